// Package recipe contains one workload per recipe. Each file, such as lock.go, holds the interface
// that the forms of the recipe satisfy, the steps that a client repeats, and the script of its
// settled run. The caller supplies the form: package recipe imports none. Package check has the
// safety checkers.
package recipe
