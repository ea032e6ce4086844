package backends

import (
	"context"
	"slices"

	"github.com/stampede-bench/stampede/drivers/canned"
	"github.com/stampede-bench/stampede/drivers/child"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/drivers/local"
	"github.com/stampede-bench/stampede/drivers/native"
	"github.com/stampede-bench/stampede/drivers/spread"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// A Backend is a kind of service, named by the scheme of a URL.
type Backend struct {
	Scheme  string
	Summary string   // one line
	About   string   // one more sentence: what sets it apart
	URLs    []string // the forms of its URLs
	Keys    []Key    // what its query may set

	role       child.Role // runs a server of this kind; its argument is its local.Place
	local      local.Kind // properties of such servers; its Role is the scheme
	clients    []client   // the libraries that can connect to it, the default first
	port       string     // where a given server listens unless its URL says otherwise
	durability []string   // the durabilities of a server that the run starts, the default first
	reads      []string   // its read modes, the default first
	server     string     // prefix of the version that a server reports
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
	Summary: "how long the service keeps a session that it does not hear of",
}

var reads = Key{
	Name:    "reads",
	Example: "sync",
	Summary: "what a read may show: local (what the server at hand has) or sync (what anybody was acknowledged before it)",
}

var etcdReads = Key{
	Name:    "reads",
	Example: "serializable",
	Summary: "what a read may show: linearizable (what anybody was acknowledged before it) or serializable (what the server at hand has)",
}

var library = Key{
	Name:    "client",
	Example: "lean",
	Summary: "the client that opens sessions: go-zookeeper (the library that most Go programs use) or lean (made for many sessions; has persistent watches)",
}

var servers = Key{
	Name:    "servers",
	Example: "3",
	Summary: "how many servers to start, each a process of its own: 1, 3, 5, 7 or 9",
}

var clients = Key{
	Name:    "clients",
	Example: spread.Leader,
	Summary: "at which servers sessions are opened: all in turn, the leader, or the followers in turn; one whose server goes away connects to any",
}

var durability = Key{
	Name:    "durability",
	Example: "no-fsync",
	Summary: "what a started server has done with a write that it acknowledged: fsync or no-fsync",
}

var nativeDurability = Key{
	Name:    durability.Name,
	Example: "fsync",
	Summary: "what a started server has done with a write that it acknowledged: memory or fsync",
}

var encrypted = Key{
	Name:    "tls",
	Example: "true",
	Summary: "whether a started server is connected to over TLS, with a certificate made for the run: true or false",
}

// List returns the table of backends.
func List() []Backend {
	return []Backend{
		{
			Scheme:  "native",
			Summary: "the server that comes with stampede and speaks ZooKeeper's protocol",
			About: "one server, in memory unless told otherwise, that counts what it sends by itself: exact and quick " +
				"to start, and no measure of how fast ZooKeeper is",
			URLs: []string{"native:", "native://host:port[,…][/chroot]"},
			Keys: []Key{sessionTimeout, reads, library, nativeDurability, encrypted},

			role:       local.InPlace(runNative),
			local:      local.Kind{Serves: servesAtOnce, Leads: ensemble.Leads, OutlivesFullDisk: true},
			clients:    zooKeeperClients(),
			port:       "2181",
			durability: []string{native.Memory, native.Fsync},
			reads:      zooKeeperReads(),
			server:     "native, as ",
		},
		{
			Scheme:  "zookeeper",
			Summary: "Apache ZooKeeper: ZOOKEEPER_HOME's or Debian's, or one that runs already",
			About: "the service that the recipes were written for: each session's calls are answered " +
				"in order, and its watches fire before it can see the change",
			URLs: []string{"zookeeper:", "zookeeper://host[:2181][,…][/chroot]"},
			Keys: []Key{sessionTimeout, reads, library, servers, clients},

			role:       local.InPlace(zookeeper.RunMember),
			local:      local.Kind{Serves: zookeeper.Serves, Leads: ensemble.Leads},
			clients:    zooKeeperClients(),
			port:       "2181",
			durability: []string{"fsync"},
			reads:      zooKeeperReads(),
		},
		{
			Scheme:  "etcd",
			Summary: "etcd: a member of this binary, or a cluster that runs already",
			About: "a session is a lease, a node a key, a sequence the create revision. Calls are answered " +
				"each on its own: a watch may fire after a reply that shows the change. Names of " +
				"sequential nodes do not sort, and sessions last for whole seconds",
			URLs: []string{"etcd:", "etcd://host[:2379][,…][/prefix]"},
			Keys: []Key{sessionTimeout, etcdReads, servers, clients, durability},

			role:       local.InPlace(etcd.RunMember),
			local:      local.Kind{Serves: etcd.Serves, Leads: etcd.Leads, OutlivesFullDisk: true},
			clients:    []client{{name: etcd.Client, unsupported: []string{cuts}, connect: connectEtcd}},
			port:       "2379",
			durability: []string{etcd.Fsync, etcd.NoFsync},
			reads:      []string{etcd.ReadLinearizable, etcd.ReadSerializable},
		},
	}
}

// zooKeeperReads returns the read modes of servers that speak ZooKeeper's protocol.
func zooKeeperReads() []string { return []string{ensemble.ReadLocal, ensemble.ReadSync} }

// ReadModes returns the read modes of all backends.
func ReadModes() []string {
	var modes []string
	for _, b := range List() {
		modes = append(modes, b.reads...)
	}
	slices.Sort(modes)
	return slices.Compact(modes)
}

// Roles returns the roles in which a run may start this binary again: a server of each kind, under
// its scheme, the process that keeps the servers' directory, and the server that does nothing.
func Roles() map[string]child.Role {
	roles := map[string]child.Role{local.KeeperRole: local.Keep, canned.Role: canned.Run}
	for _, b := range List() {
		roles[b.Scheme] = b.role
	}
	return roles
}

func runNative(ctx context.Context, p local.Place, announce func(pid string)) error {
	return native.Run(ctx, nativeOptions(), p, announce)
}

// servesAtOnce is for a server that listens before it announces itself.
func servesAtOnce(context.Context, local.Place) error { return nil }

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
