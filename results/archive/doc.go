// Package archive is the folder of saved results: it keeps each in a file that is
// called by the result's id, and finds them again by what a person calls them.
package archive
