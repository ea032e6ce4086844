// Package imports holds the test that keeps the dependency direction: which
// package of this module may import which other. It has no code of its own.
package imports
