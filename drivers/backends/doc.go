// Package backends is the table that finds a backend by its URL.
//
//	native:                         the native server, started as a process of its own
//	native://host:port              one that runs already
//	zookeeper:                      an Apache ZooKeeper, started likewise
//	zookeeper:?servers=3            an ensemble of three, started likewise
//	zookeeper://h1:2181,h2/chroot   one that runs already
//
// Query keys (?session-timeout=5s, ?reads=sync, ?client=lean, ?clients=leader) set the rest, but for TLS and
// credentials, which have no place in a URL, and what a run asks of servers that it
// starts: see [Target.With]. [Parse] checks a
// URL without doing anything; [Target.Open] starts what is to be started. main
// and TestMain give [Roles] to child.Dispatch, since what is started is this
// binary again. A service that was started is a [drivers.Ensemble].
package backends
