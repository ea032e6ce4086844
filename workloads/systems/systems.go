package systems

import (
	"slices"

	"github.com/stampede-bench/stampede/workloads/costmodel"
)

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
	// Versions are those that were looked at, from the oldest for which the row holds to the newest, and then
	// those for which it does not hold.
	Versions []Version
	// Sends is what one change sends by the system's own source, nil if as much as the form.
	Sends *Span
	// Recordings of its library.
	Recordings []Recording
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
			Members: "as the application has", Versions: curatorVersions,
			Recordings: []Recording{{"first/curator-mutex", "5.4.0", 6, 30, 0, 29}}},
		{Name: "zookeeper-write-lock", Product: "Apache ZooKeeper, WriteLock", Recipe: "lock", Form: "predecessor",
			Source:  Source{"apache/zookeeper", "zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/WriteLock.java", "line 239", zookeeper},
			Does:    "every client creates a sequential node, lists without a watch, and watches the node before its own by exists",
			Differs: "a client lists once more before it creates its node",
			Members: "as the application has", Versions: zookeeperVersions,
			Recordings: []Recording{{"second/zookeeper-recipe-lock", "3.8.0", 6, 24, 0, 23}}},
		{Name: "kazoo-lock", Product: "kazoo, Lock", Recipe: "lock", Form: "predecessor",
			Source:  Source{"python-zk/kazoo", "kazoo/recipe/lock.py", "line 255, _inner_acquire", kazoo},
			Does:    "every client creates a sequential node, lists without a watch, and watches the node before its own by get",
			Differs: "a Lock that is used again lists once more before it creates its node; a new Lock reads the parent node first",
			Members: "as the application has", Versions: kazooVersions,
			Recordings: []Recording{{"first/kazoo-lock", "2.8.0", 7, 28, 0, 27}}},
		{Name: "go-zookeeper-lock", Product: "go-zookeeper, Lock", Recipe: "lock", Form: "go-zookeeper",
			Source:  Source{"go-zookeeper/zk", "lock.go", "line 129", "6d30b8b96c609d8ac1dbb400f156273fe6474b23"},
			Does:    "every client creates a sequential node, lists without a watch, and watches the node before its own by get",
			Members: "as the application has", Versions: []Version{counted("1.0.4"), read("2024-08-19")},
			Recordings: []Recording{{"first/go-zookeeper-lock", "1.0.4", 7, 28, 0, 27}}},
		{Name: "etcd-mutex", Product: "etcd, Mutex of its package concurrency", Recipe: "lock", Form: "concurrency",
			Source:  Source{"etcd-io/etcd", "client/v3/concurrency/mutex.go", "line 89, Lock", etcd},
			Does:    "every client creates a key and waits until the last key before its own is deleted",
			Members: "as the application has", Versions: etcdVersions,
			Recordings: []Recording{{"first/etcd-mutex", "3.7.3", 7, 28, 0, 27}}},
		{Name: "consul-lock", Product: "HashiCorp Consul, Lock of its Go client", Recipe: "lock", Form: "one-node", Emulated: true,
			Source:  Source{"hashicorp/consul", "api/lock.go", "Lock", "32759fd6dd1d3c3769530478944ce6232497a617"},
			Does:    "every client waits for one key by a blocking query; when it is released, every client tries to acquire it",
			Differs: "a client reads the key before and after a failed try; after the loss of a session the lock-delay (15 s by default) makes every client try again each 5 s",
			Members: "2 to 10 instances of a service", Usual: 10, Versions: []Version{read("api 1.35.0")}},
		{Name: "redisson-lock", Product: "Redisson on Redis, RLock", Recipe: "lock", Form: "one-node", Emulated: true,
			Source:  Source{"redisson/redisson", "redisson/src/main/java/org/redisson/RedissonLock.java", "lines 105 and 364, and pubsub/LockPubSub.java line 46", "66863978b4a92093b97c1f8c96f182a77e81d50e"},
			Does:    "the holder publishes its release on one channel; every process with a waiting thread receives it and lets one thread try",
			Differs: "N counts processes, not threads; no read renews the subscription",
			Members: "2 to hundreds of instances of a service", Versions: []Version{read("2026-08-21")}},
	}
}

// Commits of repositories that several rows were read from.
const (
	curator   = "88dee99a85921bd0f20955e1d7efbaf896fc17f3"
	kazoo     = "4476a3b7338656c9a1ed89f255f20d80cb0f630b"
	zookeeper = "53a78e36f99602162643303ab330377fc383b41f"
	etcd      = "c34dc7ee0048fd2bcc44d50beff002e5e8069b69"
)

const curatorRecipes = "curator-recipes/src/main/java/org/apache/curator/framework/recipes/"

func elections() []System {
	return []System{
		{Name: "kafka-controller", Product: "Apache Kafka with ZooKeeper, controller", Recipe: "election", Form: "one-node",
			Source:  Source{"apache/kafka", "core/src/main/scala/kafka/controller/KafkaController.scala", "line 1546, elect", "1eb7644349cb07139d6a3c1ad1986979647cac99"},
			Does:    "every broker watches /controller; when it is deleted, every broker reads it and tries to create it",
			Differs: "a broker watches before it creates, so the new node notifies the broker that creates it, and can notify all others, once more; a broker reads the node twice more; the controller also writes its epoch",
			Members: "3 to hundreds: every broker", Versions: []Version{read("4.0.0-SNAPSHOT"), {Name: "4.0", Instead: "without ZooKeeper"}},
			Sends: &Span{line(1, 0), line(2, -2)}},
		{Name: "hadoop-failover", Product: "Apache Hadoop, HDFS NameNode and YARN ResourceManager failover", Recipe: "election", Form: "one-node",
			Source:  Source{"apache/hadoop", "hadoop-common-project/hadoop-common/src/main/java/org/apache/hadoop/ha/ActiveStandbyElector.java", "monitorLockNodeAsync, processWatchEvent", "401a0ee38d3ee12fd714c13c87004d36a0baa674"},
			Does:    "every standby watches the lock node by exists; when it is deleted, every standby tries to create it",
			Differs: "the active one watches its own node too, and writes a second node to fence its predecessor",
			Members: "2 or 3", Usual: 3, Versions: oneCommit},
		{Name: "hbase-master", Product: "Apache HBase, active master", Recipe: "election", Form: "one-node",
			Source:  Source{"apache/hbase", "hbase-server/src/main/java/org/apache/hadoop/hbase/master/ActiveMasterManager.java", "handleMasterNodeChange, blockUntilBecomingActiveMaster", "2f432981973696eeab255d2f5f2c80930c786ebd"},
			Does:    "every backup master watches the master's node; when it is deleted, every backup master tries to create it",
			Differs: "a backup master watches before it creates, so the new node notifies the one that creates it, and can notify all others, once more; it reads the node with get",
			Members: "2 or 3", Usual: 3, Versions: oneCommit,
			Sends: &Span{line(1, 0), line(2, -2)}},
		{Name: "helix-controller", Product: "Apache Helix, cluster controller", Recipe: "election", Form: "one-node",
			Source:  Source{"apache/helix", "helix-core/src/main/java/org/apache/helix/manager/zk/DistributedLeaderElection.java", "line 130, tryCreateController; the watch: ZKHelixManager.java, line 669", "0902505fdaa3ab1af9009d2c034eb3758f0185fd"},
			Does:    "every controller watches the children of the leader's parent node; at each change there, every controller tries to create the leader's node",
			Differs: "the watch is on the parent, so the new node can notify every controller once more, about 2N−1 in all; a controller that loses the race reads the leader's node twice more; the leader also writes a history node",
			Members: "2 or 3 for each cluster", Usual: 3, Versions: []Version{read("2.0.2-SNAPSHOT")},
			Sends: &Span{line(1, -1), line(2, -1)}, Recordings: []Recording{{"second/parent-watch-election", "", 6, 20, 0, 206}}},
		{Name: "pulsar-leader", Product: "Apache Pulsar, leader of the brokers", Recipe: "election", Form: "one-node",
			Source:  Source{"apache/pulsar", "pulsar-metadata/src/main/java/org/apache/pulsar/metadata/coordination/impl/LeaderElectionImpl.java", "handlePathNotification, elect", "085e7b8f428f5df5ff58d9fadb9c5fab380abb43"},
			Does:    "when the leader's node is deleted, every broker reads it and tries to create it",
			Differs: "the notification comes from one persistent recursive watch on / in each broker, so the new node notifies every broker too, and no read renews a watch",
			Members: "3 to hundreds: every broker", Versions: oneCommit,
			Sends: &Span{line(2, -2), line(2, -2)}},
		{Name: "patroni-leader", Product: "Patroni on ZooKeeper, PostgreSQL primary", Recipe: "election", Form: "one-node",
			Source:  Source{"patroni/patroni", "patroni/dcs/zookeeper.py", "lines 254 and 309, attempt_to_acquire_leader", "de6b22c800a4e5edb351482f0bf64415271003f6"},
			Does:    "every member watches the leader's node by get; when it is deleted, the members whose data is recent enough try to create it",
			Differs: "a member that is woken reads the whole state of its cluster and asks the other members before it creates",
			Members: "2 to 5", Usual: 5, Versions: []Version{read("3.2.0"), read("4.1.4"),
				{Name: "3.0.2", Counted: true, Instead: watchedList}, {Name: "3.1.2", Instead: watchedList}}},
		{Name: "mesos-master", Product: "Apache Mesos, leading master", Recipe: "election", Form: "children-watch",
			Source:  Source{"apache/mesos", "src/zookeeper/group.cpp", "line 730, GroupProcess::cache", "c1b42f79d157aa900be5cbb0c1023f1479962aa7"},
			Does:    "every master creates a sequential node, and every master, agent and framework lists all nodes with a watch after each change",
			Differs: "the leader keeps its watch up to date as well; agents and frameworks watch and do not stand for election",
			Members: "3 or 5 masters; agents and frameworks watch too, up to thousands", Versions: []Version{read("2024-08-23")}},
		{Name: "solr-overseer", Product: "Apache Solr, overseer and shard leaders", Recipe: "election", Form: "predecessor",
			Source:  Source{"apache/solr", "solr/core/src/java/org/apache/solr/cloud/LeaderElector.java", "checkIfIamLeader", "a24c4815b4c854274890906af9df01d415ca791b"},
			Does:    "every candidate creates a sequential node, lists without a watch, and watches the node before its own by get",
			Differs: "the leader also writes a node with its address",
			Members: "every node for the overseer, every replica for a shard", Versions: oneCommit},
		{Name: "druid-coordinator", Product: "Apache Druid, coordinator and overlord", Recipe: "election", Form: "predecessor",
			Source:  Source{"apache/druid", "server/src/main/java/org/apache/druid/curator/discovery/CuratorDruidLeaderSelector.java", "createNewLeaderLatch", "17215cd6776b3f893d7a2410f50cced1991c7eeb"},
			Does:    "every candidate starts Curator's LeaderLatch",
			Differs: "see curator-leader-latch",
			Members: "2 or 3", Usual: 3, Versions: oneCommit},
		{Name: "storm-nimbus", Product: "Apache Storm, Nimbus", Recipe: "election", Form: "predecessor",
			Source:  Source{"apache/storm", "storm-server/src/main/java/org/apache/storm/zookeeper/LeaderElectorImp.java", "line 44", "73da988d9ac3f2c9b83ec224bc54edb038654f75"},
			Does:    "every candidate starts Curator's LeaderLatch",
			Differs: "see curator-leader-latch",
			Members: "2 or 3", Usual: 3, Versions: []Version{read("2026-07-01")}},
		{Name: "curator-leader-latch", Product: "Apache Curator, LeaderLatch", Recipe: "election", Form: "predecessor",
			Source:  Source{"apache/curator", curatorRecipes + "leader/LeaderLatch.java", "line 601, checkLeadership", curator},
			Does:    "every candidate creates a sequential node, lists without a watch, and watches the node before its own by get",
			Members: "as the application has", Versions: curatorVersions,
			Recordings: []Recording{{"first/curator-leader-latch", "5.4.0", 6, 24, 0, 23}}},
		{Name: "zookeeper-leader-election", Product: "Apache ZooKeeper, LeaderElectionSupport", Recipe: "election", Form: "predecessor",
			Source:  Source{"apache/zookeeper", "zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java", "line 239", zookeeper},
			Does:    "every candidate creates a sequential node, lists without a watch, and watches the node before its own by exists",
			Differs: "a candidate reads the data of every node that it lists",
			Members: "as the application has", Versions: []Version{read("3.10.0-SNAPSHOT")}},
		{Name: "kazoo-election", Product: "kazoo, Election", Recipe: "election", Form: "predecessor",
			Source:  Source{"python-zk/kazoo", "kazoo/recipe/election.py", "line 35", kazoo},
			Does:    "the election is kazoo's Lock: see kazoo-lock",
			Members: "as the application has", Versions: kazooVersions,
			Recordings: []Recording{{"second/kazoo-election", "2.8.0", 6, 24, 0, 23}}},
		{Name: "etcd-election", Product: "etcd, Election of its package concurrency", Recipe: "election", Form: "concurrency",
			Source:  Source{"etcd-io/etcd", "client/v3/concurrency/election.go", "line 69, Campaign", etcd},
			Does:    "every candidate creates a key and waits until the last key before its own is deleted",
			Members: "as the application has", Versions: etcdVersions,
			Recordings: []Recording{{"second/etcd-election", "3.7.3", 6, 24, 0, 23}}},
		{Name: "kubernetes-lease", Product: "Kubernetes client-go, leader election", Recipe: "election", Form: "poll", Emulated: true,
			Source:  Source{"kubernetes/client-go", "tools/leaderelection/leaderelection.go", "line 259, acquire, and line 444, tryAcquireOrRenew", "32ce75a7d6bc6960fd048d3d1e3b34185418d8c8"},
			Does:    "every candidate reads one object at an interval (2 s and up to 120 % more by default), and creates or updates it when its lease has run out",
			Differs: "the leader renews its lease at the same interval, and a lease that runs out is updated, not deleted",
			Members: "2 or 3 for each controller", Usual: 3, Versions: []Version{read("2026-07-24")}},
	}
}

func others() []System {
	return []System{
		{Name: "solr-live-nodes", Product: "Apache Solr, live nodes", Recipe: "group", Form: "children-watch",
			Source:  Source{"apache/solr", "solr/solrj-zookeeper/src/java/org/apache/solr/common/cloud/ZkStateReader.java", "refreshLiveNodes", "197f6666b5e6ddaeece7fb91ae2db2256ebb018c"},
			Does:    "every node lists /live_nodes with a watch after each change",
			Members: "3 to hundreds: every node, and every client of SolrJ", Versions: oneCommit},
		{Name: "curator-group-member", Product: "Apache Curator, GroupMember", Recipe: "group", Form: "recursive",
			Source:  Source{"apache/curator", curatorRecipes + "nodes/GroupMember.java", "line 68, and watch/PersistentWatcher.java line 154", curator},
			Does:    "every member keeps one persistent recursive watch on the group, through CuratorCache",
			Differs: "a member is notified of its own node too, and reads the data of every node that is added or changed",
			Members: "as the application has", Versions: curatorVersions,
			Sends: &Span{line(1, -1), line(1, 0)}, Recordings: []Recording{{"first/curator-group-member", "5.4.0", 6, 36, 0, 197}}},
		{Name: "pulsar-metadata", Product: "Apache Pulsar, cache of metadata", Recipe: "names", Form: "recursive",
			Source:  Source{"apache/pulsar", "pulsar-metadata/src/main/java/org/apache/pulsar/metadata/impl/ZKMetadataStore.java", "constructor, addWatch", "9de48f570a5e3a8a856c3f47d1cc39f5811dd08f"},
			Does:    "every broker keeps one persistent recursive watch on /, and so is notified of each change of any node",
			Differs: "only a broker that has cached the changed node reads it again",
			Members: "3 to hundreds: every broker", Versions: oneCommit},
		{Name: "curator-barrier", Product: "Apache Curator, DistributedBarrier", Recipe: "barrier", Form: "watch",
			Source:  Source{"apache/curator", curatorRecipes + "barriers/DistributedBarrier.java", "line 108, waitOnBarrier", curator},
			Does:    "every client watches the barrier's node by exists, and checks again when it is woken",
			Differs: "the second check leaves a watch, so that setting the barrier again notifies every client once more",
			Members: "as the application has", Versions: curatorVersions,
			Sends: &Span{line(1, 0), line(2, 0)}, Recordings: []Recording{{"first/curator-barrier", "5.4.0", 6, 20, 0, 220}}},
		{Name: "kazoo-barrier", Product: "kazoo, Barrier", Recipe: "barrier", Form: "watch",
			Source:  Source{"python-zk/kazoo", "kazoo/recipe/barrier.py", "line 71, wait", kazoo},
			Does:    "every client watches the barrier's node by exists",
			Differs: "a client that is woken does not check again: N reads in place of 2N",
			Members: "as the application has", Versions: kazooVersions,
			Recordings: []Recording{{"first/kazoo-barrier", "2.8.0", 7, 20, 0, 140}}},
		{Name: "etcd-barrier", Product: "etcd, Barrier of its package recipe", Recipe: "barrier", Form: "etcd-recipes",
			Source:  Source{"etcd-io/etcd", "client/v3/experimental/recipes/barrier.go", "line 51, Wait", etcd},
			Does:    "every client reads the barrier's key and waits until it is deleted",
			Members: "as the application has", Versions: etcdVersions,
			Recordings: []Recording{{"first/etcd-barrier", "3.7.3", 6, 20, 0, 117}}},
		{Name: "curator-double-barrier", Product: "Apache Curator, DistributedDoubleBarrier", Recipe: "double-barrier", Form: "ready",
			Source:  Source{"apache/curator", curatorRecipes + "barriers/DistributedDoubleBarrier.java", "lines 118 and 213", curator},
			Does:    "every client watches the node ready; leaving clients watch the lowest node, and its client the highest",
			Differs: "a client that ready wakes lists again and tries to create ready; each client that has left tries to delete it",
			Members: "as the application has", Versions: curatorVersions,
			Sends: &Span{line(2, -1), line(3, -2)}, Recordings: []Recording{{"second/curator-double-barrier", "5.4.0", 6, 8, 0, 96}}},
		{Name: "kazoo-double-barrier", Product: "kazoo, DoubleBarrier", Recipe: "double-barrier", Form: "ready",
			Source:  Source{"python-zk/kazoo", "kazoo/recipe/barrier.py", "lines 131 and 171", kazoo},
			Does:    "every client watches the node ready; leaving clients watch the lowest node, and its client the highest",
			Differs: "each client that leaves tries to delete the node ready",
			Members: "as the application has", Versions: kazooVersions,
			Sends: &Span{line(2, -1), line(3, -2)}, Recordings: []Recording{{"second/kazoo-double-barrier", "2.8.0", 6, 6, 0, 74}}},
		{Name: "etcd-double-barrier", Product: "etcd, DoubleBarrier of its package recipe", Recipe: "double-barrier", Form: "etcd-recipes",
			Source:  Source{"etcd-io/etcd", "client/v3/experimental/recipes/double_barrier.go", "lines 46 and 112", etcd},
			Does:    "every client waits for the key ready; leaving clients wait for the lowest key, and its client for the highest",
			Differs: "of clients that leave at the same time the lowest waits for each highest in turn, and each watch begins at the creation of its key, which it is told too",
			Members: "as the application has", Versions: etcdVersions,
			Sends: &Span{line(2, -2), line(5, -5)}, Recordings: []Recording{{"second/etcd-double-barrier", "3.7.3", 6, 8, 0, 136}}},
		{Name: "zookeeper-queue", Product: "Apache ZooKeeper, DistributedQueue", Recipe: "queue", Form: "relist",
			Source:  Source{"apache/zookeeper", "zookeeper-recipes/zookeeper-recipes-queue/src/main/java/org/apache/zookeeper/recipes/queue/DistributedQueue.java", "line 234, take", zookeeper},
			Does:    "every consumer lists the queue with a watch for each item, and all race for the first",
			Differs: "a consumer that loses the race lists again with a watch, so the removal of the item notifies it once more, and the one that took it too if it waits for the next; it tries the next item of its list before",
			Members: "as the application has", Versions: zookeeperVersions,
			Sends: &Span{line(1, 0), line(2, 0)}, Recordings: []Recording{{"second/zookeeper-recipe-queue", "3.8.0", 7, 20, 7, 207}}},
		{Name: "curator-queue", Product: "Apache Curator, SimpleDistributedQueue", Recipe: "queue", Form: "relist",
			Source:  Source{"apache/curator", curatorRecipes + "queue/SimpleDistributedQueue.java", "line 216, internalElement", curator},
			Does:    "every consumer lists the queue with a watch for each item, and all race for the first",
			Differs: "a consumer that loses the race lists again with a watch, so the removal of the item notifies it once more, and the one that took it too if it waits for the next; it tries the next item of its list before",
			Members: "as the application has", Versions: curatorVersions,
			Sends: &Span{line(1, 0), line(2, 0)}, Recordings: []Recording{{"first/curator-simple-queue", "5.4.0", 8, 20, 8, 361}}},
		{Name: "etcd-queue", Product: "etcd, Queue of its package recipe", Recipe: "queue", Form: "etcd-recipes",
			Source:  Source{"etcd-io/etcd", "client/v3/experimental/recipes/queue.go", "line 43, Dequeue", etcd},
			Does:    "every idle consumer waits for the next key of the queue, and all race for it",
			Differs: "a consumer that loses the race is notified of the removal too, and once more of the latest change, at which its next watch begins",
			Members: "as the application has", Versions: etcdVersions,
			Sends: &Span{line(1, -1), line(3, 0)}, Recordings: []Recording{{"first/etcd-queue", "3.7.3", 6, 20, 6, 263}}},
	}
}

// A Library is what one change costs with N members if the library itself runs, as counted.
type Library struct {
	System  string // the name of the row
	Version string // "kazoo 2.8.0"
	Program string // the program that uses it: "kazoo", "Curator" or "Go"
	Recipe  string // as the program names it
	Etcd    bool   // the library's server is etcd, otherwise ZooKeeper
	// Others is the number of clients besides the N members, such as one that opens a barrier.
	Others int

	Notifications, Reads, Writes costmodel.Polynomial
	Note                         string // why it differs from the row, "" if it does not
}

// Libraries returns the counts of the libraries themselves. Each is the difference between two runs: the
// second has one turn more for each member, or one opening more of a barrier.
func Libraries() []Library {
	const (
		kazoo    = "kazoo 2.8.0"
		curator  = "Curator 5.4.0"
		relisted = "a Lock that is used again lists once more before it creates its node, to find one that a failed try may have left; a new Lock reads the parent node instead"
		setAgain = "the row counts an opening alone; here the barrier is also set again, "
	)
	one := line(0, 1)
	times := func(n float64) costmodel.Polynomial { return line(0, n) }
	return []Library{
		{System: "kazoo-lock", Version: kazoo, Program: "kazoo", Recipe: "lock", Notifications: one, Reads: times(4), Writes: times(2), Note: relisted},
		{System: "kazoo-election", Version: kazoo, Program: "kazoo", Recipe: "election", Notifications: one, Reads: times(4), Writes: times(2), Note: "as kazoo-lock, which it uses"},
		{System: "kazoo-barrier", Version: kazoo, Program: "kazoo", Recipe: "barrier", Others: 1,
			Notifications: line(1, 0), Reads: line(1, 2), Writes: times(2), Note: setAgain + "with two reads and a write; a client that is woken does not read again"},
		{System: "curator-lock", Version: curator, Program: "Curator", Recipe: "mutex", Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "curator-leader-latch", Version: curator, Program: "Curator", Recipe: "latch", Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "curator-barrier", Version: curator, Program: "Curator", Recipe: "barrier", Others: 1,
			Notifications: line(2, 0), Reads: line(2, 0), Writes: times(2), Note: setAgain + "with a write that notifies all N: the check of a client that is woken sets a watch, which is left when the client proceeds"},
		{System: "go-zookeeper-lock", Version: "go-zookeeper v1.0.4", Program: "Go", Recipe: "zookeeper-lock", Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "etcd-mutex", Version: "etcd client v3.7.3", Program: "Go", Recipe: "etcd-mutex", Etcd: true, Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "etcd-election", Version: "etcd client v3.7.3", Program: "Go", Recipe: "etcd-election", Etcd: true, Notifications: one, Reads: times(2), Writes: times(2)},
	}
}
