// Package backends finds a backend by its URL.
//
//	native:                         the native server, started in a process of its own
//	native://host:port              one that is already running
//	zookeeper:                      an Apache ZooKeeper, started likewise
//	zookeeper:?servers=3            an ensemble of three, started likewise
//	zookeeper://h1:2181,h2/chroot   one that is already running
//	etcd:                           an etcd, started likewise
//
// Query keys (?session-timeout=5s, ?consistency=sync, ?client=go-zookeeper, ?clients=leader) set the rest, except
// for TLS and credentials, which do not belong in a URL, and for what a run requires of the servers
// that it starts: see [Target.With]. [Parse] checks a URL without doing anything; [Target.Open]
// starts the servers that are to be started. main passes the roles of package roles to reexec.Dispatch,
// because a started server is this binary again. A service that was started is a
// [drivers.Ensemble].
package backends
