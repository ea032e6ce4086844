// Package imports contains the tests that enforce the layout of this module: the direction of its
// imports, the size of its packages, the part of the check that runs each test, and the lists in CONTRIBUTING.md, which are
// generated. It has no other code.
package imports
