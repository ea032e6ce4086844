// Package imports contains the tests that enforce the layout of this module: which packages may
// import which others, that CONTRIBUTING.md draws this as it is, and that no package has too many
// files. It has no other code.
package imports
