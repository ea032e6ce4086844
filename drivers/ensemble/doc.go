// Package ensemble represents the servers of one ZooKeeper service, for the clients that open
// sessions with it: how to connect to the servers, what they report about themselves, and what
// all clients share.
//
// An [Ensemble] is made from a [Config]. It opens no sessions. It only sends four-letter words
// to the servers, and it can end the session of another client.
package ensemble
