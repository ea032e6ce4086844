// Package catalog lists every form of every recipe, and selects forms by name.
// It is the only package that knows all forms: to add a form, append it to [Forms].
package catalog
