// Package imports contains the test that enforces the direction of dependencies: which packages
// of this module may import which others. It has no other code.
package imports
