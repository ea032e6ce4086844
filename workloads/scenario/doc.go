// Package scenario reads scenario files: runs that belong together, written down in versioned YAML.
//
// A [File] has named scenarios. Each scenario stands for one stampede run, and its settings have
// the names of that command's flags. [Parse] takes the known settings as keys and reports all
// errors of a file together, each with its line; it runs nothing. [Shipped] returns the files that
// come with stampede.
package scenario
