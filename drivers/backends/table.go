package backends

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// A Backend is a kind of service, named by the scheme of a URL.
type Backend struct {
	Scheme  string
	Summary string   // one line
	About   string   // one more sentence: what sets it apart
	URLs    []string // the forms of its URLs
	Keys    []Key    // what its query may set

	local         cluster.Kind // properties of a server that a run starts; package roles has its Role
	clients       []client     // the libraries that can connect to it, the default first
	port          string       // where a given server listens unless its URL says otherwise
	durability    []string     // the durabilities of a server that the run starts, the default first
	several       []string     // those of several servers if they are others
	consistencies []string     // the consistencies of its reads, the default first
	server        string       // prefix of the version that a server reports
}

// A Key is a setting in the query of a URL.
type Key struct {
	Name    string
	Example string
	Summary string // one line
}

var sessionTimeout = Key{
	Name:    "session-timeout",
	Example: "10s",
	Summary: "how long the service keeps a session without hearing from it",
}

var consistency = Key{
	Name:    "consistency",
	Example: "sync",
	Summary: "what a read shows at least: local (the state of the connected server) or sync (every write acknowledged before the read)",
}

var etcdConsistency = Key{
	Name:    "consistency",
	Example: "serializable",
	Summary: "what a read shows at least: linearizable (every write acknowledged before the read) or serializable (the state of the connected server)",
}

var library = Key{
	Name:    "client",
	Example: "go-zookeeper",
	Summary: "the client that opens sessions: lean (stampede's own, made for many sessions) or go-zookeeper (the library that most Go programs use)",
}

var servers = Key{
	Name:    "servers",
	Example: "3",
	Summary: "number of servers to start, each in a process of its own: 1, 3, 5, 7 or 9",
}

var clients = Key{
	Name:    "clients",
	Example: balancer.Leader,
	Summary: "servers on which sessions are opened: all in turn, the leader, or the followers in turn; a session whose server fails connects to any",
}

var durability = Key{
	Name:    "durability",
	Example: "no-fsync",
	Summary: "when a started server acknowledges a write: after fsync, or before (no-fsync)",
}

var nativeDurability = Key{
	Name:    durability.Name,
	Example: "fsync",
	Summary: "where a started server keeps acknowledged writes: memory, or on disk (fsync); several servers keep them on disk",
}

var encrypted = Key{
	Name:    "tls",
	Example: "true",
	Summary: "whether sessions connect to a started server over TLS, with a certificate made for the run: true or false",
}

// List returns the table of backends.
func List() []Backend {
	return []Backend{
		{
			Scheme:  "native",
			Summary: "the server that comes with stampede and speaks ZooKeeper's protocol",
			About: "one server in memory by default, or an ensemble of three or five that elects a leader; it counts what it " +
				"sends by itself: exact and quick to start, but no measure of ZooKeeper's speed",
			URLs: []string{"native:", "native://host:port[,…][/chroot]"},
			Keys: []Key{sessionTimeout, consistency, library, servers, clients, nativeDurability, encrypted},

			local:         cluster.Kind{Role: "native", Serves: servesNative(nil), Leads: ensemble.Leads, OutlivesFullDisk: true, Secret: true},
			clients:       zooKeeperClients(),
			port:          "2181",
			durability:    []string{server.Memory, server.Fsync},
			several:       []string{server.Fsync},
			consistencies: zooKeeperConsistencies(),
			server:        "native, as ",
		},
		{
			Scheme:  "zookeeper",
			Summary: "Apache ZooKeeper: from ZOOKEEPER_HOME or Debian's package, or a running one",
			About: "the service that the recipes were written for: each session's calls are answered " +
				"in order, and its watches fire before it can see the change",
			URLs: []string{"zookeeper:", "zookeeper://host[:2181][,…][/chroot]"},
			Keys: []Key{sessionTimeout, consistency, library, servers, clients},

			local:         zookeeper.Kind(),
			clients:       zooKeeperClients(),
			port:          "2181",
			durability:    []string{"fsync"},
			consistencies: zooKeeperConsistencies(),
		},
		{
			Scheme:  "etcd",
			Summary: "etcd: a member in this binary, or a running cluster",
			About: "a session is a lease, a node a key, a sequence the create revision. Calls are answered " +
				"each on its own: a watch may fire after a reply that shows the change. Names of " +
				"sequential nodes do not sort, and sessions last for whole seconds",
			URLs: []string{"etcd:", "etcd://host[:2379][,…][/prefix]"},
			Keys: []Key{sessionTimeout, etcdConsistency, servers, clients, durability},

			local:         etcd.Kind(),
			clients:       []client{{name: etcd.Client, unsupported: []string{cuts}, connect: connectEtcd}},
			port:          "2379",
			durability:    []string{etcd.Fsync, etcd.NoFsync},
			consistencies: []string{etcd.ReadLinearizable, etcd.ReadSerializable},
		},
	}
}

// zooKeeperConsistencies returns the consistencies of reads of servers that speak ZooKeeper's protocol.
func zooKeeperConsistencies() []string { return []string{ensemble.ReadLocal, ensemble.ReadSync} }

// Consistencies returns the consistencies of reads of all backends.
func Consistencies() []string {
	var modes []string
	for _, b := range List() {
		modes = append(modes, b.consistencies...)
	}
	slices.Sort(modes)
	return slices.Compact(modes)
}

// Role returns the name of the role in which a server of this kind is started: see package roles.
func (b Backend) Role() string { return b.local.Role }

func find(scheme string) (Backend, bool) {
	list := List()
	i := slices.IndexFunc(list, func(b Backend) bool { return b.Scheme == scheme })
	if i < 0 {
		return Backend{}, false
	}
	return list[i], true
}

func schemes() []string {
	var names []string
	for _, b := range List() {
		names = append(names, b.Scheme)
	}
	return names
}

func (b Backend) keyNames() []string {
	var names []string
	for _, k := range b.Keys {
		names = append(names, k.Name)
	}
	return names
}
