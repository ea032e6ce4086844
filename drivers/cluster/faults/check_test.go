package faults_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster/faults"
)

func TestCheck(t *testing.T) {
	three := faults.Powers{Service: "etcd:?servers=3", Servers: 3, Disks: true, Clients: 8, Holder: true, Window: time.Minute}
	elsewhere := faults.Powers{Service: "zookeeper:?servers=3", Servers: 3, Clients: 8, Window: time.Minute}
	given := faults.Powers{Service: "zookeeper://zk1:2181", Clients: 8, Holder: true, Window: time.Minute}
	divisible := three
	divisible.Divisible = true
	own := three
	own.OwnDisks = true
	memory := faults.Powers{Service: "native:", Servers: 1, Forgets: true, Disks: true, Clients: 8, Window: time.Minute}
	program := faults.Powers{Service: "native:", Servers: 1, Forgets: true, Disks: true, Program: true, Members: 1}
	programEtcd := faults.Powers{Service: "etcd:", Servers: 1, Program: true, Members: 1, Etcd: true}
	onEtcd := faults.Powers{Service: "etcd:", Servers: 1, Clients: 8, Window: time.Minute, Etcd: true}
	program3 := faults.Powers{Service: "zookeeper://zk1:2181,zk2:2181", Program: true, Members: 2}
	for _, c := range []struct {
		on          faults.Powers
		fault, want string
	}{
		{program, "at=10s expire clients=all", ""},
		{program, "at=10s hold process=java for=5s", ""},
		{program, "at=10s cut client=70", ""},
		{program, "at=10s stop leader for=1s", ""},
		{program3, "at=10s move clients=all", ""},
		{programEtcd, "at=10s cancel-watch clients=all", ""},
		{programEtcd, "at=10s compact-watch client=1 key=/app/config every=1s times=3", ""},
		{programEtcd, "at=10s break-stream process=java", ""},
		{program, "at=10s compact-watch clients=all", `fault "at=10s compact-watch clients=all": compact-watch is for watches of etcd, and native: has none: want cut or expire`},
		{three, "at=10s break-stream client=1", `fault "at=10s break-stream client=1": break-stream needs the clients of another program, as of stampede observe`},
		{program, "at=10s move clients=all", `fault "at=10s move clients=all": native: is one server: there is no other to move to`},
		{program, "at=10s cut holder", `fault "at=10s cut holder": holder is known of stampede's own clients only: want client=1, clients=25%, process=NAME or node=PATH`},
		{program, "at=10s freeze client=1", `fault "at=10s freeze client=1": freeze needs clients of stampede's own, as of stampede run`},
		{three, "at=10s hold clients=all for=1s", `fault "at=10s hold clients=all for=1s": hold needs the clients of another program, as of stampede observe`},
		{three, "at=10s kill leader once=/a", `fault "at=10s kill leader once=/a": once=/a waits for a node of another program, as of stampede observe`},
		{three, "at=10s cut node=/a", `fault "at=10s cut node=/a": node=/a is for the clients of another program: want client=1 or clients=25%`},
		{three, "at=58s cut client=1 every=1s times=3", `fault "at=58s cut client=1 every=1s times=3": its last step comes at 1m, and the run is over at 1m`},
		{memory, "at=10s drop clients=all for=5s", ""},
		{memory, "at=10s double client=1, restore after=1s", ""},
		{onEtcd, "at=10s double client=1", `fault "at=10s double client=1": double is for notifications of ZooKeeper's protocol, and etcd: has none: want native: or zookeeper`},
		{program, "at=10s drop clients=all", `fault "at=10s drop clients=all": drop needs clients of stampede's own, as of stampede run`},
		{three, "at=10s kill leader for=5s", ""},
		{three, "at=10s kill member=3 for=5s", ""},
		{three, "at=10s expire holder", ""},
		{three, "at=10s fill-disk leader for=5s", ""},
		{elsewhere, "at=10s kill leader for=5s", ""},
		{elsewhere, "at=10s fill-disk leader for=5s", `fault "at=10s fill-disk leader for=5s": a full disk of zookeeper:?servers=3 cannot be tried: those of native: with durability=fsync and of etcd: can, on Linux`},
		{three, "at=10s kill member=4", `fault "at=10s kill member=4": etcd:?servers=3 has 3 servers`},
		{three, "at=10s cut client=9", `fault "at=10s cut client=9": there are 8 clients`},
		{three, "at=58s kill leader for=2s", `fault "at=58s kill leader for=2s": its last step comes at 1m, and the run is over at 1m`},
		{divisible, "at=10s isolate leader, kill after=1s, restore after=1s", ""},
		{divisible, "at=10s delay leader by=50ms for=1s", ""},
		{three, "at=10s throttle follower to=64k", `fault "at=10s throttle follower to=64k": etcd:?servers=3 was opened without anything between its servers: open it divisible`},
		{memory, "at=10s delay leader by=50ms", `fault "at=10s delay leader by=50ms": native: is one server, which talks to no other: say servers=3`},
		{three, "at=10s isolate leader", `fault "at=10s isolate leader": etcd:?servers=3 was opened without anything between its servers: open it divisible`},
		{memory, "at=10s isolate member=1", `fault "at=10s isolate member=1": native: is one server, which talks to no other: say servers=3`},
		{given, "at=10s isolate leader", `fault "at=10s isolate leader": zookeeper://zk1:2181 is a given service: only servers that the run starts can be broken`},
		{given, "at=10s cut clients=all", ""},
		{given, "at=10s kill leader", `fault "at=10s kill leader": zookeeper://zk1:2181 is a given service: only servers that the run starts can be broken`},
		{given, "at=10s fill-disk leader", `fault "at=10s fill-disk leader": zookeeper://zk1:2181 is a given service: only servers that the run starts can be broken`},
		{memory, "at=10s stop leader for=1s", ""},
		{memory, "at=10s fill-disk leader", `fault "at=10s fill-disk leader": native: keeps everything in memory, and has no disk: say durability=fsync`},
		{memory, "at=10s hang-disk leader", `fault "at=10s hang-disk leader": native: keeps everything in memory, and has no disk: say durability=fsync`},
		{three, "at=10s hang-disk leader", `fault "at=10s hang-disk leader": the disk of etcd:?servers=3 cannot hang: that takes root on Linux, mkfs.ext4, mount and loop devices`},
		{own, "at=10s hang-disk leader for=5s", ""},
		{own, "at=10s hang-disk leader, kill after=5s", `fault "at=10s hang-disk leader, kill after=5s": no kill reaches a member whose disk hangs: thaw it first`},
		{own, "at=10s hang-disk leader, thaw after=5s, kill after=1s, restart after=1s", ""},
		{given, "at=10s hang-disk leader", `fault "at=10s hang-disk leader": zookeeper://zk1:2181 is a given service: only servers that the run starts can be broken`},
		{memory, "at=10s kill follower", `fault "at=10s kill follower": native: is one server, which has no followers: say servers=3`},
		{memory, "at=10s stop leader, kill after=1s", `fault "at=10s stop leader, kill after=1s": native: keeps everything in memory, which would be gone: say durability=fsync`},
		{memory, "at=10s expire holder", `fault "at=10s expire holder": no client holds anything in this recipe: want client=1 or clients=25%`},
	} {
		f, err := faults.Parse(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := (faults.Schedule{f}).Check(c.on); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A random schedule is possible with the given powers, survives printing and parsing, and ends
// before the run; the same seed gives the same schedule.
func TestNemesis(t *testing.T) {
	for _, p := range []faults.Powers{
		{Service: "given", Clients: 3, Window: 30 * time.Second},
		{Service: "memory", Servers: 1, Forgets: true, Disks: true, Clients: 3, Holder: true, Window: 30 * time.Second},
		{Service: "three", Servers: 3, Clients: 3, Holder: true, Window: 30 * time.Second},
		{Service: "servers only", Servers: 3, Window: 30 * time.Second},
		{Service: "divisible", Servers: 3, Divisible: true, Window: 30 * time.Second},
		{Service: "with disks", Servers: 3, Disks: true, Window: 30 * time.Second},
	} {
		verbs := map[faults.Verb]bool{}
		for seed := range uint64(200) {
			s := faults.Nemesis(seed, p, 2*time.Second)
			if err := s.Check(p); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if s.String() != faults.Nemesis(seed, p, 2*time.Second).String() || s.String() == faults.Nemesis(seed+1, p, 2*time.Second).String() {
				t.Fatalf("seed %d: two schedules, or that of another", seed)
			}
			for _, f := range s {
				verbs[f.Steps[0].Verb] = true
				if again, err := faults.Parse(f.String()); err != nil || again.String() != f.String() {
					t.Fatalf("seed %d: %s: %v", seed, f, err)
				}
			}
		}
		want := 7
		if p.Clients == 0 {
			want = 0
		}
		if p.Servers > 0 {
			want++
		}
		if p.Servers > 0 && !p.Forgets {
			want += 2
		}
		if p.Divisible && p.Clients == 0 { // clients have two of these verbs as well
			want += 3
		}
		if p.Disks && !p.Forgets {
			want++
		}
		if len(verbs) != want {
			t.Errorf("%s: %d kinds of faults: %v, want %d", p.Service, len(verbs), verbs, want)
		}
	}
}
