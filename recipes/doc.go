// Package recipes is the herd-avoiding forms of the coordination recipes that
// ZooKeeper's documentation describes: whatever happens wakes only those who can
// go on because of it.
//
// A file is one recipe; lock.go is its default form, lock_FORM.go any further
// one. Package naive has files of the same names whose default forms are twins
// of these: a diff of recipes/lock.go and naive/lock.go shows the herd.
//
// The forms are written against drivers.Conn and run on any backend.
package recipes
