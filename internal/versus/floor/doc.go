// Package floor is a server that does only what every server has to do for the same load:
// it reads requests, writes those that change something to a file and syncs it, and sends
// replies and notifications of the size that a real server sends. It looks up nothing,
// checks nothing and keeps nothing. A real server's time beyond that is its own work.
package floor
