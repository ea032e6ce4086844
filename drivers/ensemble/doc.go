// Package ensemble is the servers of one ZooKeeper service, for the client
// libraries that sessions are opened through: how they are connected to, what
// they tell of themselves, and what is the same whoever asks.
//
// An [Ensemble] is made from a [Config]. It opens no sessions. What it asks its
// servers itself are their four-letter words, and the end of a session that is
// somebody else's.
package ensemble
