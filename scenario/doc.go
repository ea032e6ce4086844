// Package scenario is the scenario file: runs that belong together, written down
// in versioned YAML.
//
// A [File] has named scenarios, each of which is what one stampede run would be
// asked for, by settings that are called as its flags are. [Parse] is told which
// settings there are, and finds everything that is wrong with a file at once,
// with its line; it runs nothing. [Shipped] are the files that come with stampede.
package scenario
