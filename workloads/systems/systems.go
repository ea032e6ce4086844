package systems

import "slices"

// A System is one use of a form by a system or a client library.
type System struct {
	Name         string // "kafka-controller", which is also an alias of the form
	Product      string // "Apache Kafka, controller"
	Recipe, Form string // the form of the catalogue that works alike
	Source       Source
	Does         string // what the source does, in one sentence without a full stop
	// Differs says which calls the source sends besides those of the form, or omits; "" if none.
	Differs string
	Members string // how many members take part in practice
	Usual   int    // the most members in a usual installation; 0 if there is no such limit
	Newest  string // whether the newest version does the same: "yes" or "no", and which one was read, or "n/a"
	// Emulated is set if the system does not use ZooKeeper or etcd, so that the form only
	// imitates what it does on its own service.
	Emulated bool
}

// A Source is the place in the source code that a row was read from.
type Source struct {
	Repository string // on GitHub, "apache/kafka"
	Path       string
	At         string // a line or a method
	Commit     string // 40 hexadecimal digits
}

// URL returns the address of the file as it was read.
func (s Source) URL() string {
	return "https://github.com/" + s.Repository + "/blob/" + s.Commit + "/" + s.Path
}

// All returns all systems: elections first, then locks, then all others.
func All() []System { return slices.Concat(elections(), locks(), others()) }

// Find returns the system with the name.
func Find(name string) (System, bool) {
	all := All()
	i := slices.IndexFunc(all, func(s System) bool { return s.Name == name })
	if i < 0 {
		return System{}, false
	}
	return all[i], true
}

// Names returns the names of the systems that use a form of the recipe.
func Names(recipe string) (names []string) {
	for _, s := range All() {
		if s.Recipe == recipe {
			names = append(names, s.Name)
		}
	}
	return names
}

func locks() []System {
	return []System{
		{Name: "curator-lock", Product: "Apache Curator, InterProcessMutex", Recipe: "lock", Form: "predecessor",
			Source:  Source{"apache/curator", curatorRecipes + "locks/LockInternals.java", "line 244", curator},
			Does:    "every client creates a sequential node, lists without a watch, and watches the node before its own by get",
			Members: "as the application has", Newest: "yes: read at 2026-07-20"},
		{Name: "zookeeper-write-lock", Product: "Apache ZooKeeper, WriteLock", Recipe: "lock", Form: "predecessor",
			Source:  Source{"apache/zookeeper", "zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java", "line 239", zookeeper},
			Does:    "every client creates a sequential node, lists without a watch, and watches the node before its own by exists",
			Differs: "a client lists once more before it creates its node",
			Members: "as the application has", Newest: "yes: read at 2026-07-17"},
		{Name: "kazoo-lock", Product: "kazoo, Lock", Recipe: "lock", Form: "predecessor",
			Source:  Source{"python-zk/kazoo", "kazoo/recipe/lock.py", "line 255, _inner_acquire", kazoo},
			Does:    "every client creates a sequential node, lists without a watch, and watches the node before its own by get",
			Differs: "a Lock that is used again lists once more before it creates its node; a new Lock reads the parent node first",
			Members: "as the application has", Newest: "yes: read at 2026-05-08"},
		{Name: "go-zookeeper-lock", Product: "go-zookeeper, Lock", Recipe: "lock", Form: "go-zookeeper",
			Source:  Source{"go-zookeeper/zk", "lock.go", "line 129", "6d30b8b96c609d8ac1dbb400f156273fe6474b23"},
			Does:    "every client creates a sequential node, lists without a watch, and watches the node before its own by get",
			Members: "as the application has", Newest: "yes: read at 2024-08-19"},
		{Name: "etcd-mutex", Product: "etcd, Mutex of its package concurrency", Recipe: "lock", Form: "concurrency",
			Source:  Source{"etcd-io/etcd", "client/v3/concurrency/mutex.go", "line 89, Lock", etcd},
			Does:    "every client creates a key and waits until the last key before its own is deleted",
			Members: "as the application has", Newest: "yes: read at 2026-08-20"},
		{Name: "consul-lock", Product: "HashiCorp Consul, Lock of its Go client", Recipe: "lock", Form: "one-node", Emulated: true,
			Source:  Source{"hashicorp/consul", "api/lock.go", "Lock", "32759fd6dd1d3c3769530478944ce6232497a617"},
			Does:    "every client waits for one key by a blocking query; when it is released, every client tries to acquire it",
			Differs: "a client reads the key before and after a failed try; after the loss of a session the lock-delay (15 s by default) makes every client try again each 5 s",
			Members: "2 to 10 instances of a service", Usual: 10, Newest: "yes: module api read at v1.35.0"},
		{Name: "redisson-lock", Product: "Redisson on Redis, RLock", Recipe: "lock", Form: "one-node", Emulated: true,
			Source:  Source{"redisson/redisson", "redisson/src/main/java/org/redisson/RedissonLock.java", "lines 105 and 364, and pubsub/LockPubSub.java line 46", "66863978b4a92093b97c1f8c96f182a77e81d50e"},
			Does:    "the holder publishes its release on one channel; every process with a waiting thread receives it and lets one thread try",
			Differs: "N counts processes, not threads; no read renews the subscription",
			Members: "2 to hundreds of instances of a service", Newest: "yes: read at 2026-08-21"},
	}
}
