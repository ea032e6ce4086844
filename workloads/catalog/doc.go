// Package catalog is the table of every form of every recipe, and the choice
// among them by name. It is the only package that knows all forms; whoever has
// one of their own appends it to [Forms].
package catalog
