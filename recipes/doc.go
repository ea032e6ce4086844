// Package recipes implements the coordination recipes of ZooKeeper's
// documentation in forms that avoid herds: a change wakes only the clients that
// can proceed because of it. The default forms of the queue and the priority
// queue are exceptions: as in the documentation, an item wakes every consumer
// that waits at the empty queue.
//
// Each file has one form of a recipe: lock.go has the default form of the lock,
// lock_FORM.go has another one. Package naive has files with the same names,
// whose default forms are the counterparts of these: a diff of recipes/lock.go
// and naive/lock.go shows the herd.
//
// The forms use drivers.Conn and run on any backend.
package recipes
