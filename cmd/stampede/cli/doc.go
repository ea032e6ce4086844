// Package cli has what the commands share at the command line: flags that environment
// variables set, errors with exit codes, and output to a terminal.
package cli
