package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// concurrencyClients is the number of clients that share a lock or a counter, each of them
// concurrencyTurns times.
const concurrencyClients, concurrencyTurns = 8, 5

// TestConcurrencyIsTheSameThroughAProxy uses the mutex, the election and the transactions of
// etcd's package concurrency on a member and through a proxy. Both must do what the package
// promises, and the proxy must have decoded all that passed.
func TestConcurrencyIsTheSameThroughAProxy(t *testing.T) {
	testenv.SkipIfShort(t)
	member := backendtest.SharedEtcd(t)
	seen := &tally{operations: map[drivers.Op]int{}}
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: member}},
		proxy.Options{Protocol: etcd.Protocol(), Observer: seen})
	must(t, err)
	defer p.Close()
	direct, passed := outcomes(t, member), outcomes(t, p.Addresses()[0])
	if diff := cmp.Diff(direct, passed); diff != "" {
		t.Errorf("(-without +with the proxy):\n%s", diff)
	}
	if diff := cmp.Diff(promised, direct); diff != "" {
		t.Errorf("(-promised +without the proxy):\n%s", diff)
	}
	p.Flush()
	if s := p.Stats(); s.Dropped > 0 || s.Failed > 0 || seen.gap > 0 {
		t.Errorf("the proxy's stats are %+v, with a gap of %d bytes; want all decoded", s, seen.gap)
	}
	// Each client of the mutex has a session, as have two that give it up and two candidates.
	if want := concurrencyClients + 4; seen.sessions != want {
		t.Errorf("%d sessions, want %d", seen.sessions, want)
	}
	if least := concurrencyClients * concurrencyTurns; seen.operations[drivers.OpCreate] < least {
		t.Errorf("%d keys were created, want one for each of the mutex's %d turns", seen.operations[drivers.OpCreate], least)
	}
}

// promised are the outcomes that the package's documentation promises.
var promised = []string{
	fmt.Sprintf("mutex: %d turns, at most 1 holder, in order of arrival", concurrencyClients*concurrencyTurns),
	"mutex: try while held: mutex: Locked by another session",
	"mutex: give up: context canceled",
	"mutex: keys while one is held after one gave up: 1",
	"mutex: try after the holder's lease was revoked: <nil>",
	"mutex: keys at the end: 0",
	"election: nobody leads: election: no leader",
	"election: proclaim without leading: election: not leader",
	"election: leader: first",
	"election: observed: first",
	"election: observed: again",
	"election: observed: second",
	"election: resigned: election: no leader",
	fmt.Sprintf("transactions: counter at level 0: %d", concurrencyClients*concurrencyTurns),
	fmt.Sprintf("transactions: counter at level 1: %d", concurrencyClients*concurrencyTurns),
	fmt.Sprintf("transactions: counter at level 2: %d", concurrencyClients*concurrencyTurns),
	"transactions: the function's error: refused",
	"transactions: keys that it wrote: 0",
}

// A tally is an observer that counts.
type tally struct {
	sessions   int
	operations map[drivers.Op]int // of requests
	gap        int64
}

func (n *tally) Open(traffic.Connection) traffic.Tap    { return n }
func (n *tally) Session(_ time.Time, _ traffic.Session) { n.sessions++ }
func (n *tally) Missed(u traffic.Undecoded)             { n.gap += u.Bytes }
func (n *tally) Members(time.Time, []string)            {}
func (n *tally) Lease(time.Time, int64)                 {}
func (n *tally) Owner(traffic.Process)                  {}

func (n *tally) Gap(_ time.Time, bytes int64, _ traffic.Cause) { n.gap += bytes }
func (n *tally) Close(time.Time)                               {}
func (n *tally) Message(_ time.Time, m drivers.Message) {
	if m.Kind == drivers.Request {
		n.operations[m.Op]++
	}
	for _, part := range m.Parts {
		if m.Kind == drivers.Request {
			n.operations[part.Op]++
		}
	}
}

// A program tells what the package does for its clients, on keys below its root.
type program struct {
	*testing.T
	address string
	root    string
	told    []string
}

func outcomes(t *testing.T, address string) []string {
	p := &program{T: t, address: address, root: fmt.Sprint("/concurrency-", time.Now().UnixNano())}
	p.mutexTakesTurns()
	p.mutexIsGivenUp()
	p.election()
	p.transactions()
	return p.told
}

func (p *program) tell(format string, values ...any) {
	p.told = append(p.told, fmt.Sprintf(format, values...))
}

func (p *program) client(options ...grpc.DialOption) *clientv3.Client {
	p.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{p.address}, DialTimeout: time.Minute, DialOptions: options})
	must(p.T, err)
	p.Cleanup(func() { c.Close() })
	return c
}

// session opens a session on a connection of its own.
func (p *program) session(options ...grpc.DialOption) *concurrency.Session {
	p.Helper()
	s, err := concurrency.NewSession(p.client(options...), concurrency.WithTTL(60))
	must(p.T, err)
	return s
}

func (p *program) keys(c *clientv3.Client, below string) int64 {
	p.Helper()
	r, err := c.Get(p.Context(), p.root+below, clientv3.WithPrefix(), clientv3.WithCountOnly())
	must(p.T, err)
	return r.Count
}

// mutexTakesTurns has all clients take a mutex. The holder's key is the oldest of all keys.
func (p *program) mutexTakesTurns() {
	p.Helper()
	var all sync.WaitGroup
	var holders, most, turns atomic.Int64
	var mu sync.Mutex
	var revisions []int64
	for range concurrencyClients {
		s := p.session()
		all.Go(func() {
			defer s.Close()
			m := concurrency.NewMutex(s, p.root+"/mutex")
			for range concurrencyTurns {
				if err := m.Lock(p.Context()); err != nil {
					p.Error(err)
					return
				}
				if n := holders.Add(1); n > most.Load() {
					most.Store(n)
				}
				turns.Add(1)
				created := p.created(s.Client(), m.Key())
				mu.Lock()
				revisions = append(revisions, created)
				mu.Unlock()
				holders.Add(-1)
				if err := m.Unlock(p.Context()); err != nil {
					p.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	order := "out of order"
	if slices.IsSorted(revisions) {
		order = "in order of arrival"
	}
	p.tell("mutex: %d turns, at most %d holder, %s", turns.Load(), most.Load(), order)
}

// created returns the revision at which the key was created.
func (p *program) created(c *clientv3.Client, key string) int64 {
	r, err := c.Get(p.Context(), key)
	if err != nil || len(r.Kvs) != 1 {
		p.Errorf("the holder's key: %v, %v", r, err)
		return 0
	}
	return r.Kvs[0].CreateRevision
}

// mutexIsGivenUp has one client try, one stop waiting, and the holder lose its lease.
func (p *program) mutexIsGivenUp() {
	p.Helper()
	const below = "/given-up"
	var answered atomic.Pointer[chan struct{}] // gets each reply to a transaction, unless it is nil
	holder, other := p.session(), p.session(grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, request, reply any,
		c *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		err := invoke(ctx, method, request, reply, c, options...)
		if to := answered.Load(); to != nil && strings.HasSuffix(method, "/Txn") {
			*to <- struct{}{}
		}
		return err
	}))
	c := other.Client()
	held, wanted := concurrency.NewMutex(holder, p.root+below), concurrency.NewMutex(other, p.root+below)
	must(p.T, held.Lock(p.Context()))
	p.tell("mutex: try while held: %v", wanted.TryLock(p.Context()))

	ctx, giveUp := context.WithCancel(p.Context())
	waited, queued := make(chan error, 1), make(chan struct{}, 1)
	answered.Store(&queued)
	go func() { waited <- wanted.Lock(ctx) }()
	<-queued // a client that gives up before it has the reply leaves its key
	answered.Store(nil)
	giveUp()
	p.tell("mutex: give up: %v", <-waited)
	p.tell("mutex: keys while one is held after one gave up: %d", p.keys(c, below))

	_, err := c.Revoke(p.Context(), holder.Lease())
	must(p.T, err)
	p.tell("mutex: try after the holder's lease was revoked: %v", wanted.TryLock(p.Context()))
	must(p.T, wanted.Unlock(p.Context()))
	must(p.T, other.Close())
	p.tell("mutex: keys at the end: %d", p.keys(c, below))
}

// election has two candidates lead after each other while a third client observes.
func (p *program) election() {
	p.Helper()
	first, second := p.session(), p.session()
	one, two := concurrency.NewElection(first, p.root+"/election"), concurrency.NewElection(second, p.root+"/election")
	watched := concurrency.NewElection(second, p.root+"/election")
	leader := func() (string, error) {
		r, err := watched.Leader(p.Context())
		if err != nil {
			return "", err
		}
		return string(r.Kvs[0].Value), nil
	}
	_, err := leader()
	p.tell("election: nobody leads: %v", err)
	p.tell("election: proclaim without leading: %v", one.Proclaim(p.Context(), "nothing"))
	must(p.T, one.Campaign(p.Context(), "first"))
	who, err := leader()
	must(p.T, err)
	p.tell("election: leader: %s", who)

	ctx, stop := context.WithCancel(p.Context())
	defer stop()
	observed := watched.Observe(ctx)
	observe := func() { p.tell("election: observed: %s", (<-observed).Kvs[0].Value) }
	observe()
	must(p.T, one.Proclaim(p.Context(), "again"))
	observe()
	won := make(chan error, 1)
	go func() { won <- two.Campaign(p.Context(), "second") }()
	must(p.T, one.Resign(p.Context()))
	must(p.T, <-won)
	observe()
	must(p.T, two.Resign(p.Context()))
	_, err = leader()
	p.tell("election: resigned: %v", err)
	must(p.T, first.Close())
	must(p.T, second.Close())
}

// transactions has all clients add to a counter, at each level at which no addition may be lost.
func (p *program) transactions() {
	p.Helper()
	c := p.client()
	for _, level := range []concurrency.Isolation{concurrency.SerializableSnapshot, concurrency.Serializable, concurrency.RepeatableReads} {
		key := fmt.Sprint(p.root, "/counter-", level)
		p.count(key, level)
		r, err := c.Get(p.Context(), key)
		must(p.T, err)
		p.tell("transactions: counter at level %d: %s", level, r.Kvs[0].Value)
	}
	_, err := concurrency.NewSTM(c, func(s concurrency.STM) error {
		s.Put(p.root+"/refused", "written")
		return errors.New("refused")
	})
	p.tell("transactions: the function's error: %v", err)
	r, err := c.Get(p.Context(), p.root+"/refused")
	must(p.T, err)
	p.tell("transactions: keys that it wrote: %d", r.Count)
}

// count adds one to a counter in each turn of each client.
func (p *program) count(key string, level concurrency.Isolation) {
	p.Helper()
	var all sync.WaitGroup
	for range concurrencyClients {
		c := p.client()
		all.Go(func() {
			for range concurrencyTurns {
				if _, err := concurrency.NewSTM(c, func(s concurrency.STM) error {
					n, _ := strconv.Atoi(s.Get(key)) // of no key it is 0
					s.Put(key, strconv.Itoa(n+1))
					return nil
				}, concurrency.WithIsolation(level)); err != nil {
					p.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
