// Package imports contains the tests that enforce the layout of this module: the direction of its
// imports, the size of its packages, and the list of packages in CONTRIBUTING.md, which is generated
// from doc comments. It has no other code.
package imports
