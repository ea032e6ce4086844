package control

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// start runs a member for the test.
func start(t *testing.T) *EtcdMember {
	t.Helper()
	clustertest.Use()
	m, err := Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// connect opens a session with the member.
func connect(t *testing.T, m *EtcdMember) *Plane {
	t.Helper()
	s, err := Protected(m.URL(), m.Token())
	if err != nil {
		t.Fatal(err)
	}
	return connectTo(t, s)
}

func connectTo(t *testing.T, s drivers.Service) *Plane {
	t.Helper()
	p, err := Connect(t.Context(), s, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestOnlyTheTokenOpensTheControlPlane(t *testing.T) {
	m := start(t)
	connect(t, m)
	wrongPassword, wrongCertificate := m.Token(), m.Token()
	wrongPassword.password[0]++
	wrongCertificate.fingerprint[0]++
	for name, token := range map[string]Token{"password": wrongPassword, "certificate": wrongCertificate} {
		s, err := Protected(m.URL(), token)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := Connect(t.Context(), s, time.Minute); err == nil {
			p.Close()
			t.Errorf("a wrong %s is accepted", name)
		} else if strings.Contains(err.Error(), token.String()) || strings.Contains(err.Error(), token.secret()) {
			t.Errorf("the error has the secret in it: %v", err)
		}
	}
	plain, err := Given(strings.Replace(m.URL(), "/stampede", "/x", 1))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Connect(t.Context(), plain, time.Minute); err == nil {
		p.Close()
		t.Error("a client without a token is accepted")
	}
}

func TestTokenText(t *testing.T) {
	token := newToken([]byte("certificate"))
	if got, err := ParseToken(token.String()); err != nil || got != token || len(token.String()) != 64 {
		t.Errorf("%q is read as %v, %v", token, got, err)
	}
	for _, text := range []string{"", "abc", token.String()[1:], token.String() + "AAAA", "!" + token.String()[1:]} {
		if _, err := ParseToken(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestDocumentsOfAnySize(t *testing.T) {
	m := start(t)
	writer, reader := connect(t, m), connect(t, m)
	for name, size := range map[string]int{"empty": 0, "small": 10, "one-piece": pieceSize, "several": 3*pieceSize + 1} {
		text := bytes.Repeat([]byte{byte(size), 7}, size)[:size]
		got := make(chan []byte)
		go func() { // it waits for the document
			text, err := reader.Get(t.Context(), name)
			if err != nil {
				t.Error(err)
			}
			got <- text
		}()
		if err := writer.Put(t.Context(), name, text); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(<-got, text) {
			t.Errorf("%s: another document is read", name)
		}
	}
}

func TestMembers(t *testing.T) {
	m := start(t)
	coordinator, a, b, again := connect(t, m), connect(t, m), connect(t, m), connect(t, m)
	if err := coordinator.Lead(t.Context(), Coordinator{Version: "1", Clock: "here"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Lead(t.Context(), Coordinator{}); !errors.Is(err, ErrCoordinated) {
		t.Errorf("a second coordinator gets %v", err)
	}
	if c, err := a.AwaitCoordinator(t.Context()); err != nil || c.Version != "1" || c.Clock != "here" {
		t.Errorf("the coordinator is read as %+v, %v", c, err)
	}
	for p, name := range map[*Plane]string{a: "a", b: "b"} {
		if err := p.Join(t.Context(), Agent{Name: name, Processors: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.Join(t.Context(), Agent{Name: "a"}); err == nil || !strings.Contains(err.Error(), `the name "a"`) {
		t.Errorf("a second agent of the same name gets %v", err)
	}
	var seen []int
	agents, err := coordinator.AwaitAgents(t.Context(), 2, func(names []string) { seen = append(seen, len(names)) })
	if err != nil || len(agents) != 2 || agents[0].Processors != 3 || !slices.Equal(seen, []int{2}) {
		t.Errorf("got agents %+v, counted %v, %v", agents, seen, err)
	}
	a.Close()
	if err := coordinator.AwaitLoss(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	coordinator.Close()
	if err := b.AwaitEnd(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestMeet(t *testing.T) {
	m := start(t)
	const n = 3
	var met sync.WaitGroup
	var all atomic.Bool // the third has come
	planes := []*Plane{connect(t, m), connect(t, m), connect(t, m)}
	for _, p := range planes[1:] {
		met.Go(func() {
			if err := p.Meet(t.Context(), "here", n); err != nil {
				t.Error(err)
			}
			if !all.Load() {
				t.Error("two of three have met")
			}
		})
	}
	for range 20 { // two that met alone would be done by then
		if _, _, err := planes[0].Find(t.Context(), "nothing"); err != nil {
			t.Error(err)
		}
	}
	all.Store(true)
	if err := planes[0].Meet(t.Context(), "here", n); err != nil {
		t.Error(err)
	}
	met.Wait()
}

// TestLeftoversAreRemoved starts a coordinator after another one that was killed.
func TestLeftoversAreRemoved(t *testing.T) {
	m := start(t)
	first := connect(t, m)
	if err := first.Lead(t.Context(), Coordinator{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Put(t.Context(), "run-1.assignment", []byte("old")), first.Meet(t.Context(), "run-1.warm", 1)); err != nil {
		t.Fatal(err)
	}
	first.Close()
	second := connect(t, m)
	if err := second.Lead(t.Context(), Coordinator{}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{documents, barriers} {
		if left, err := second.nodes.Children(t.Context(), dir, nil); err != nil || len(left) > 0 {
			t.Errorf("%s has %v, %v", dir, left, err)
		}
	}
}

// TestItRecognizesItself compares the control plane with services that may be under test.
func TestItRecognizesItself(t *testing.T) {
	testenv.SkipIfShort(t)
	m := start(t)
	own, err := Protected(m.URL(), m.Token())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := Protected(strings.Replace(m.URL(), "/stampede", "/bench", 1), m.Token())
	if err != nil {
		t.Fatal(err)
	}
	native, etcd := backendtest.Own(t, "native:"), backendtest.Own(t, "etcd:")
	address := addressOf(t, native)
	for _, c := range []struct {
		name string
		comparison
	}{
		{"itself", comparison{own, own, true}},
		{"another prefix of the same etcd", comparison{own, elsewhere, true}},
		{"another etcd", comparison{own, etcd, false}},
		{"the same etcd", comparison{given(t, addressOf(t, etcd)), given(t, localhost(addressOf(t, etcd))), true}},
		{"another kind", comparison{own, native, false}},
		{"another kind, the other way", comparison{given(t, address), etcd, false}},
		{"the same address", comparison{given(t, address), native, true}},
		{"another path of the same address", comparison{given(t, strings.Replace(address, "?", "/?", 1)), native, true}},
		{"another address of the same server", comparison{given(t, address), given(t, localhost(address)), true}},
		{"another client of the same server", comparison{given(t, address), given(t, strings.Replace(localhost(address), "=lean", "=go-zookeeper", 1)), true}},
		{"another server", comparison{given(t, address), backendtest.InProcess(t), false}},
	} {
		c.compare(t, c.name)
	}
}

// TestItRecognizesItselfOnZooKeeper has two real ZooKeepers.
func TestItRecognizesItselfOnZooKeeper(t *testing.T) {
	testenv.SkipIfShort(t)
	one := addressOf(t, backendtest.Own(t, "zookeeper:"))
	other := backendtest.SecureZooKeeper(t)
	other.Protect(t, "/bench", "ann", "hunter2")
	nobody := other.Security
	nobody.ServerName = "127.0.0.1" // under any address
	security := nobody
	security.User, security.Password = "ann", "hunter2"
	plane := connectTo(t, given(t, one))
	below := "/" + rand.Text()
	if err := plane.nodes.Make(t.Context(), below, nil); err != nil {
		t.Fatal(err)
	}
	chroot := strings.Replace(localhost(one), "?", below+"?", 1)
	secure := "zookeeper://" + other.Address
	for _, c := range []struct {
		name string
		comparison
	}{
		{"another address", comparison{given(t, one), given(t, localhost(one)), true}},
		{"another address and chroot", comparison{given(t, one), given(t, chroot), true}},
		{"the other way", comparison{given(t, chroot), given(t, one), true}},
		{"another client", comparison{given(t, one), given(t, strings.Replace(chroot, "=lean", "=go-zookeeper", 1)), true}},
		{"another ZooKeeper", comparison{given(t, one), backendtest.Open(t, secure, security), false}},
		{"another ZooKeeper, the other way", comparison{backendtest.Open(t, secure, security), given(t, one), false}},
		{"a node of another user", comparison{backendtest.Open(t, secure, nobody), backendtest.Open(t, localhost(secure)+"/bench", security), true}},
		{"a native server", comparison{given(t, one), backendtest.Own(t, "native:"), false}},
	} {
		c.compare(t, c.name)
	}
}

// TestItRecognizesEtcdWithoutPermissions has a user who may not see the nodes of the control plane, and two
// members whose clusters have the same id.
func TestItRecognizesEtcdWithoutPermissions(t *testing.T) {
	testenv.SkipIfShort(t)
	secure := backendtest.SecureEtcd(t)
	secure.ProtectKeys(t, "/bench", "ann", "hunter2")
	as := func(user, password, url string) drivers.Service {
		s := secure.Security
		s.User, s.Password, s.ServerName = user, drivers.Secret(password), "127.0.0.1"
		return backendtest.Open(t, url, s)
	}
	m := start(t)
	own, err := Protected(m.URL(), m.Token())
	if err != nil {
		t.Fatal(err)
	}
	bench := as("ann", "hunter2", "etcd://"+secure.Address+"/bench")
	comparison{as("root", "toor", localhost("etcd://"+secure.Address+"/plane")), bench, true}.compare(t, "another user")
	comparison{own, bench, false}.compare(t, "a cluster with the same id")
}

// A comparison compares a control plane with a service.
type comparison struct {
	plane, other drivers.Service
	want         bool
}

func (c comparison) compare(t *testing.T, name string) {
	t.Helper()
	p, err := Connect(t.Context(), c.plane, time.Minute)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer p.Close()
	if got, err := p.Serves(t.Context(), c.other); err != nil || got != c.want {
		t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
	}
}

func addressOf(t *testing.T, s drivers.Service) string {
	t.Helper()
	url, err := backends.Address(s)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// localhost returns the URL with another name for the same machine.
func localhost(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

func given(t *testing.T, url string) drivers.Service {
	t.Helper()
	s, err := Given(url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMain(m *testing.M) { backendtest.Main(m) }

func TestNothingIsLeftBehind(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	m, err := Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connect(t, m).Close()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// A member listens where it was asked to, and says why it cannot.
func TestAddress(t *testing.T) {
	address := testenv.Address(t)
	m, err := Start(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if want := "etcd://" + address + "/stampede"; m.URL() != want {
		t.Errorf("agents join %s, want %s", m.URL(), want)
	}
	for listen, want := range map[string]string{
		address:      "start the control plane on " + address + ": listen tcp " + address + ": bind: address already in use",
		"there":      "start the control plane on there: want host:port",
		"127.0.0.1:": "",
	} {
		second, err := Start(t.Context(), listen)
		if err == nil {
			second.Close()
		}
		if fmt.Sprint(err) != cmp.Or(want, "<nil>") {
			t.Errorf("on %s: %v, want %q", listen, err, want)
		}
	}
}

func TestStates(t *testing.T) {
	m := start(t)
	agent, coordinator := connect(t, m), connect(t, m)
	var got int
	if found, err := coordinator.State(t.Context(), "a", &got); found || err != nil {
		t.Errorf("before it has set one: %v, %v", found, err)
	}
	for _, want := range []int{5, 6} {
		if err := agent.SetState(t.Context(), "a", want); err != nil {
			t.Fatal(err)
		}
		if found, err := coordinator.State(t.Context(), "a", &got); !found || err != nil || got != want {
			t.Errorf("got %d, %v, %v, want %d", got, found, err, want)
		}
	}
}

// TestClaims has several processes claim a name. One gets it, also if it asks again.
func TestClaims(t *testing.T) {
	m := start(t)
	const processes = 4
	won := make(chan string, 2*processes)
	var all sync.WaitGroup
	for i := range processes {
		p, mine := connect(t, m), string(rune('a'+i))
		all.Go(func() {
			for range 2 {
				if is, err := p.Claim(t.Context(), "fault"); err != nil {
					t.Error(err)
				} else if is {
					won <- mine
				}
			}
			if err := p.AwaitClaim(t.Context(), "fault"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(won)
	var winners []string
	for name := range won {
		winners = append(winners, name)
	}
	if len(winners) != 2 || winners[0] != winners[1] {
		t.Errorf("%q got it, want one process twice", winners)
	}
}
