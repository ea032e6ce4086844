// Package naive implements the coordination recipes of package recipes in forms
// that cause herds: they wake many clients when only one can proceed, or they
// poll. The forms are correct. They are written as an engineer would write them
// who does not know about herds.
//
// Each file has one form of a recipe: lock.go has the default form of the lock,
// lock_FORM.go has another one. Package recipes has files with the same names,
// whose default forms are the counterparts of these: a diff of recipes/lock.go
// and naive/lock.go shows the herd.
//
// The forms use drivers.Conn and run on any backend.
package naive
