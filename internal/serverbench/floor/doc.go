// Package floor is a server that does only what every server has to do for the same load. It
// reads requests, writes those that change something to a file and syncs it, and sends replies
// and notifications of the size that a real server sends. It looks up nothing, checks nothing
// and stores nothing. The time that a real server takes beyond that is its own work.
package floor
