package backends

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
)

func TestParse(t *testing.T) {
	type parsed struct {
		Scheme, Chroot string
		Servers        []string
		SessionTimeout time.Duration
	}
	for given, want := range map[string]parsed{
		"native:":               {Scheme: "native"},
		"native://h:1":          {Scheme: "native", Servers: []string{"h:1"}},
		"zookeeper:":            {Scheme: "zookeeper"},
		"zookeeper://h":         {Scheme: "zookeeper", Servers: []string{"h:2181"}},
		"zookeeper://h/":        {Scheme: "zookeeper", Servers: []string{"h:2181"}},
		"zookeeper://h:1,i/a/b": {Scheme: "zookeeper", Servers: []string{"h:1", "i:2181"}, Chroot: "/a/b"},
		"zookeeper://[::1]:1,[fe80::2],10.0.0.1": {Scheme: "zookeeper",
			Servers: []string{"[::1]:1", "[fe80::2]:2181", "10.0.0.1:2181"}},
		"native:?session-timeout=5s":            {Scheme: "native", SessionTimeout: 5 * time.Second},
		"zookeeper://h/a?session-timeout=1m30s": {Scheme: "zookeeper", Servers: []string{"h:2181"}, Chroot: "/a", SessionTimeout: 90 * time.Second},
	} {
		target, err := Parse(given)
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		got := parsed{target.Backend().Scheme, target.chroot, target.servers, target.sessionTimeout}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", given, diff)
		}
		if target.String() != given {
			t.Errorf("%s prints as %s", given, target)
		}
	}
}

// A scheme may be given without its colon.
func TestParseTakesASchemeAlone(t *testing.T) {
	for _, b := range List() {
		target, err := Parse(b.Scheme)
		if err != nil || target.String() != b.Scheme+":" || target.Given() {
			t.Errorf("%s: %v, given %v, %v; want %[1]s: on a server that is started", b.Scheme, target, target.Given(), err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for given, want := range map[string]string{
		"":                              `unknown backend "": there is native, zookeeper, etcd`,
		"natve:":                        `unknown backend "natve": did you mean "native"?`,
		"localhost:2181":                `backend "localhost:2181" has no scheme: want native://localhost:2181 or zookeeper://localhost:2181 or etcd://localhost:2181`,
		"zk1:2181,zk2:2181/app":         `backend "zk1:2181,zk2:2181/app" has no scheme: want native://zk1:2181,zk2:2181/app or zookeeper://zk1:2181,zk2:2181/app or etcd://zk1:2181,zk2:2181/app`,
		"zk://zk1:2181/app":             `unknown backend "zk": want zookeeper://zk1:2181/app`,
		"http://e1:2379":                `unknown backend "http": want etcd://e1:2379`,
		"https://e1:2379/":              `unknown backend "https": want etcd://e1:2379`,
		"zk1:2181:2888:3888":            `backend "zk1:2181:2888:3888" has the ports between servers: want zookeeper://zk1:2181`,
		"zookeeper:h:2181":              `backend "zookeeper:h:2181": after zookeeper: comes nothing, or //host:port`,
		"native:/tmp":                   `backend "native:/tmp": after native: comes nothing, or //host:port`,
		"native://":                     `backend "native://": host "": want host:port`,
		"zookeeper:///a":                `backend "zookeeper:///a": host "": want host:port`,
		"zookeeper://h,,i":              `backend "zookeeper://h,,i": host "": want host:port`,
		"zookeeper://h:":                `backend "zookeeper://h:": host "h:": port "" is not a number from 1 to 65535`,
		"zookeeper://h:http":            `backend "zookeeper://h:http": host "h:http": port "http" is not a number from 1 to 65535`,
		"zookeeper://h:65536":           `backend "zookeeper://h:65536": host "h:65536": port "65536" is not a number from 1 to 65535`,
		"zookeeper://::1":               `backend "zookeeper://::1": host "::1": want host:port`,
		"zookeeper://a b":               `backend "zookeeper://a b": host "a b": want host:port`,
		"http://e1:2379,http://e2:2379": `unknown backend "http": want etcd://e1:2379,e2:2379`,
		"zookeeper://h:1/a,i:2/a": `backend "zookeeper://h:1/a,i:2/a": chroot "/a,i:2/a" has a comma or a port: ` +
			`it comes once, after all hosts, as in zookeeper://host:2181,host:2181/name`,
		"etcd://h/a:2379": `backend "etcd://h/a:2379": chroot "/a:2379" has a comma or a port: ` +
			`it comes once, after all hosts, as in etcd://host:2379,host:2379/name`,
		"zookeeper://h/a//b":     `backend "zookeeper://h/a//b": chroot "/a//b": want /name/name…`,
		"zookeeper://h/a/":       `backend "zookeeper://h/a/": chroot "/a/": want /name/name…`,
		"zookeeper://h/../a":     `backend "zookeeper://h/../a": chroot "/../a": want /name/name…`,
		"native:?sesion-timeout": `backend "native:": unknown key "sesion-timeout": did you mean "session-timeout"?`,
		"native:?server=3":       `backend "native:": unknown key "server": did you mean "servers"?`,
		"native:?servers=3&durability=memory": `backend "native:": ` +
			`durability=memory: 3 servers keep their log on disk, because one that forgets it may vote twice: want fsync`,
		"native:?servers=3&durability=no-fsync": `backend "native:": unknown durability "no-fsync": there is fsync`,
		"native:?servers=4":                     `backend "native:": servers=4: want an odd number: with 4 no more of them may fail than with 3`,
		"native:?session-timeout": `backend "native:": ` +
			`session-timeout=: want a duration of at least 1ms, e.g. 10s`,
		"native:?session-timeout=10": `backend "native:": ` +
			`session-timeout=10: want a duration of at least 1ms, e.g. 10s`,
		"native:?session-timeout=-1s": `backend "native:": ` +
			`session-timeout=-1s: want a duration of at least 1ms, e.g. 10s`,
		"native:?session-timeout=1s&session-timeout=2s": `backend "native:": ` +
			`key "session-timeout" is given 2 times`,
		"native:?tls=yes": `backend "native:": tls=yes: want true or false`,
		"native://h:1?tls=true": `backend "native://h:1": ` +
			`tls is for a service that is started: how to connect to a given one is said by --tls-ca and its like`,
		"zookeeper:?tls=true":       `backend "zookeeper:": unknown key "tls": there is session-timeout, consistency, client, servers, clients`,
		"native:?consistency=synch": `backend "native:": unknown consistency "synch": did you mean "sync"?`,
		"zookeeper:?client=leen":    `backend "zookeeper:": unknown client "leen": did you mean "lean"?`,
		"native:?client":            `backend "native:": unknown client "": there is lean, go-zookeeper`,
		"etcd:?client=lean":         `backend "etcd:": unknown key "client": did you mean "clients"?`,
		"native:?clients=followers": `backend "native:": clients=followers: one server has no followers`,
		"zookeeper:?servers=2":      `backend "zookeeper:": servers=2: want an odd number: with 2 no more of them may fail than with 1`,
		"etcd:?servers=6":           `backend "etcd:": servers=6: want an odd number: with 6 no more of them may fail than with 5`,
		"etcd:?servers=x":           `backend "etcd:": servers=x: want 1, 3, 5, 7 or 9`,
		"etcd:?servers=0":           `backend "etcd:": servers=0: want 1, 3, 5, 7 or 9`,
		"zookeeper:?servers=11":     `backend "zookeeper:": servers=11: want 1, 3, 5, 7 or 9`,
		"zookeeper:?servers":        `backend "zookeeper:": servers=: want 1, 3, 5, 7 or 9`,
		"etcd://h?servers=3": `backend "etcd://h": ` +
			`servers is for a service that is started: a given one has those of its addresses`,
		"etcd:?servers=3&clients=leaders":        `backend "etcd:": unknown place for clients "leaders": did you mean "leader"?`,
		"etcd:?clients=followers":                `backend "etcd:": clients=followers: one server has no followers`,
		"zookeeper://10.0.0.1?clients=followers": `backend "zookeeper://10.0.0.1": clients=followers: one server has no followers`,
		"native:?consistency":                    `backend "native:": unknown consistency "": there is local, sync`,
		"native:?client=wire":                    `backend "native:": unknown client "wire": there is lean, go-zookeeper`,
	} {
		_, err := Parse(given)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", given, err, want)
		}
	}
}

func TestClientOfTheURL(t *testing.T) {
	for given, want := range map[string]string{
		"native:":             "lean",
		"native:?client=lean": "lean",
		"zookeeper://h/a?client=lean&consistency=sync": "lean",
		"zookeeper:?client=go-zookeeper":               "go-zookeeper",
		"etcd:":                                        "clientv3",
	} {
		target, err := Parse(given)
		if err != nil || target.client.name != want {
			t.Errorf("%s: %q (%v), want %q", given, target.client.name, err, want)
		}
	}
}

// The URL sets the number of servers, and those on which sessions are opened.
func TestServersOfTheURL(t *testing.T) {
	for given, want := range map[string]struct {
		members int
		clients string
	}{
		"native:":                                {1, "all"},
		"native:?servers=5&clients=followers":    {5, "followers"},
		"zookeeper:":                             {1, "all"},
		"zookeeper:?servers=1&clients=leader":    {1, "leader"},
		"zookeeper:?clients=followers&servers=5": {5, "followers"},
		"etcd:?servers=9":                        {9, "all"},
		"etcd://a,b?clients=followers":           {1, "followers"},
	} {
		target, err := Parse(given)
		if err != nil || target.members != want.members || target.clients != want.clients {
			t.Errorf("%s: %d servers, clients at %s (%v), want %d and %s", given, target.members, target.clients, err, want.members, want.clients)
		}
	}
}

// Each backend has a URL with persistent watches, if any of its clients has them.
func TestPersistent(t *testing.T) {
	lasting, plain := client{name: "lasting"}, client{name: "plain", unsupported: []string{persistentWatches}}
	for want, clients := range map[string][]client{
		"b:":                {lasting, plain},
		"b:?client=lasting": {plain, lasting},
		"":                  {plain},
	} {
		if got := (Backend{Scheme: "b", clients: clients}).Persistent(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestParseRepeatsNoPassword(t *testing.T) {
	for given, want := range map[string]string{
		"zookeeper://ann:secret@h:2181/a": "credentials",
		"zookeeper://h?password=secret":   `unknown key "password"`,
		"zookeeper://h?a=%secret":         "query",
	} {
		_, err := Parse(given)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v, want an error with %q", err, want)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats the password: %v", err)
		}
	}
}

// With sets security and consistencies of reads only where the target can have them.
func TestWith(t *testing.T) {
	ann := drivers.Security{User: "ann", Password: "secret"}
	for _, c := range []struct {
		url     string
		options Options
		reads   string
		want    string
	}{
		{"zookeeper://h", Options{Security: ann}, "", ""},
		{"zookeeper://h", Options{Consistency: "sync"}, "sync", ""},
		{"zookeeper://h?consistency=local", Options{Consistency: "sync"}, "local", ""},
		{"zookeeper:", Options{Consistency: "sync"}, "sync", ""},
		{"zookeeper://h", Options{Consistency: "serial"}, "", `backend zookeeper: unknown consistency "serial": there is local, sync`},
		{"zookeeper://h", Options{Security: drivers.Security{User: "ann"}}, "", "user without a password"},
		{"native:", Options{Security: ann}, "", `backend "native:": ` + ErrStarted.Error()},
	} {
		target, err := Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		target, err = target.WithOptions(c.options)
		if c.want != "" {
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: got %v, want %s", c.url, err, c.want)
			}
			continue
		}
		if err != nil || target.consistency != c.reads || target.security != c.options.Security {
			t.Errorf("%s: reads %q, security %+v, %v; want reads %q and what was given", c.url, target.consistency, target.security, err, c.reads)
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	for _, b := range List() {
		if b.Scheme == "" || b.Summary == "" || len(b.URLs) == 0 || len(b.durability) == 0 || len(b.consistencies) == 0 || b.Role() == "" {
			t.Errorf("row %+v lacks something", b)
		}
		for _, k := range b.Keys {
			if _, err := Parse(b.Scheme + ":?" + k.Name + "=" + k.Example); err != nil {
				t.Errorf("the example of key %s: %v", k.Name, err)
			}
		}
	}
}
