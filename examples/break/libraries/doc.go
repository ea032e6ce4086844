// Package libraries has programs on seven client libraries: each registers itself and follows a configuration, as the
// library's documentation recommends or as users often write it. The comment of each has the command that runs it under
// stampede observe.
package libraries
