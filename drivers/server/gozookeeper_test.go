package server_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A program that uses go-zookeeper gets the same results from both servers, and through a proxy that
// observes it.
func TestGoZooKeeper(t *testing.T) {
	testenv.SkipIfShort(t)
	theirs := useGoZooKeeper(t, apacheFor(t, "go-zookeeper"))
	ours := useGoZooKeeper(t, backendtest.Native(t, server.Options{}))
	wantSame(t, theirs, ours)
	wantSame(t, theirs, useGoZooKeeper(t, observed(t, backendtest.Native(t, server.Options{}))))
	wantSame(t, theirs, useGoZooKeeper(t, observed(t, backendtest.ZooKeeper(t, ""))))
}

// A program that connects over TLS with a certificate also gets the same results, and the same
// identity, from both servers.
func TestGoZooKeeperOverTLS(t *testing.T) {
	testenv.SkipIfShort(t)
	use := func(s backendtest.Secure) notebook {
		cfg, err := s.Security.TLSConfig()
		if err != nil {
			t.Fatal(err)
		}
		return useGoZooKeeper(t, s.Address, zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return tls.Dial(network, address, cfg)
		}))
	}
	theirs, ours := use(backendtest.SecureZooKeeper(t)), use(backendtest.SecureNative(t, server.Options{}))
	wantSame(t, theirs, ours)
	if all := strings.Join(ours, "\n"); !strings.Contains(all, "x509 CN=test client") {
		t.Errorf("no access list has the certificate's subject:\n%s", all)
	}
}

func wantSame(t *testing.T, theirs, ours notebook) {
	t.Helper()
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("(-ZooKeeper +native):\n%s", diff)
	}
	if last := ours[len(ours)-1]; last != "left [] 2 <nil>" {
		t.Errorf("at last %q, want that the lock left nothing", last)
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// A notebook collects a program's output.
type notebook []string

func (n *notebook) say(words ...any) { *n = append(*n, strings.TrimSpace(fmt.Sprintln(words...))) }

type connOption = func(*zk.Conn)

// all combines several options.
func all(options []connOption) connOption {
	return func(c *zk.Conn) {
		for _, o := range options {
			o(c)
		}
	}
}

func useGoZooKeeper(t *testing.T, address string, options ...connOption) (told notebook) {
	t.Helper()
	c, _, err := zk.Connect([]string{address}, 10*time.Second, zk.WithLogger(quiet{}), all(options))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	write(c, &told)
	watch(c, &told)
	commit(c, &told)
	protect(c, &told)
	return told
}

func write(c *zk.Conn, n *notebook) {
	world := zk.WorldACL(zk.PermAll)
	n.say(c.Create("/a", []byte("data"), 0, world))
	n.say(c.Create("/a", nil, 0, world))
	n.say(c.Create("/a/s-", nil, zk.FlagSequence|zk.FlagEphemeral, world))
	n.say(c.CreateContainer("/a/c", nil, zk.FlagContainer, world))
	n.say(c.CreateTTL("/a/t", nil, zk.FlagTTL, world, time.Hour))
	n.say(c.CreateProtectedEphemeralSequential("/none/p-", nil, world))
	stat, err := c.Set("/a", []byte("longer"), 0)
	n.say(stat.Version, stat.DataLength, stat.NumChildren, err)
	_, err = c.Set("/a", nil, 9)
	n.say(err, c.Delete("/a", -1), c.Delete("/a", 9), c.Delete("/none", -1), c.Delete("/a/t", 0))
	data, stat, err := c.Get("/a")
	n.say(string(data), stat.Version, stat.Cversion, err)
	names, _, err := c.Children("/a")
	slices.Sort(names)
	n.say(names, err)
	n.say(c.Sync("/a"))
}

func watch(c *zk.Conn, n *notebook) {
	_, _, made, err := c.ExistsW("/w")
	n.say(c.Create("/w", nil, 0, zk.WorldACL(zk.PermAll)))
	n.say((<-made).Type, err)
	_, _, changed, err := c.GetW("/w")
	_, errSet := c.Set("/w", nil, -1)
	n.say((<-changed).Type, err, errSet)
	_, _, grown, err := c.ChildrenW("/w")
	_, _, gone, errGone := c.ExistsW("/w")
	n.say(c.Delete("/w", -1), (<-grown).Type, (<-gone).Type, err, errGone)
}

func commit(c *zk.Conn, n *notebook) {
	create := &zk.CreateRequest{Path: "/m", Data: []byte("m"), Acl: zk.WorldACL(zk.PermAll)}
	for _, version := range []int32{1, 9} {
		results, err := c.Multi(create, &zk.SetDataRequest{Path: "/m", Version: -1},
			&zk.CheckVersionRequest{Path: "/a", Version: version}, &zk.DeleteRequest{Path: "/m", Version: -1})
		n.say(err)
		for _, r := range results {
			n.say(r.String, r.Stat != nil, r.Error)
		}
	}
}

func protect(c *zk.Conn, n *notebook) {
	n.say(c.AddAuth("digest", []byte("user:password")))
	n.say(c.Create("/secret", nil, 0, zk.AuthACL(zk.PermAll)))
	acl, stat, err := c.GetACL("/secret")
	slices.SortFunc(acl, func(a, b zk.ACL) int { return strings.Compare(a.Scheme, b.Scheme) }) // ZooKeeper stores a set
	n.say(acl, stat.Aversion, err)
	stat, err = c.SetACL("/secret", zk.WorldACL(zk.PermRead), 0)
	n.say(stat.Aversion, err)
	_, err = c.Set("/secret", nil, -1)
	n.say(err)
	lock := zk.NewLock(c, "/lock", zk.WorldACL(zk.PermAll))
	n.say(lock.Lock(), lock.Unlock())
	names, stat, err := c.Children("/lock")
	n.say("left", names, stat.Cversion, err)
}
