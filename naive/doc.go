// Package naive is the herd-prone forms of the coordination recipes: correct,
// and written as one would who has not read about herds. They wake many when
// only one can go on, or ask again and again.
//
// A file is one recipe; lock.go is its default form, the twin of the file of the
// same name in package recipes: a diff of the two shows the herd. lock_FORM.go
// is any further form.
//
// The forms are written against drivers.Conn and run on any backend.
package naive
