// Package archive manages the folder of saved results. It stores each result in a file named after the
// result's id, and finds results by the names that users type.
package archive
