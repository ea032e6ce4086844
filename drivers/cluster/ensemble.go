package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/drivers/cluster/partition"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

// A Kind describes the servers of one backend.
type Kind struct {
	// Role is the child role of a member, which takes the place as its argument. It announces the
	// process ID of the server when there is one, and ends with that process.
	Role string
	// Serves returns when the member accepts sessions and its ensemble has a leader, or when the
	// context ends. It must recognize another process that listens at the member's address.
	Serves func(ctx context.Context, p Place) error
	// Leads asks the server at the address whether it is the leader.
	Leads func(ctx context.Context, address string) (bool, error)
	// OutlivesFullDisk reports that a server restarted after a full disk has all the writes that it
	// acknowledged.
	OutlivesFullDisk bool
	// Secret: several members authenticate each other by a secret, which each gets in a file.
	Secret bool
}

// FillsDisks reports whether the disks of such servers can be filled, if they store data on disk.
func (k Kind) FillsDisks() bool { return k.OutlivesFullDisk && limitsOthers }

// An Ensemble is the group of servers of one service.
type Ensemble struct {
	kind    Kind
	keeper  *reexec.Process  // nil if there are no files
	lines   *partition.Links // nil if the members connect directly
	members []*member

	close func() error // ends the ensemble once
}

// A Plan is the number of servers to start and their settings.
type Plan struct {
	Servers    int
	Durability string
	// InMemory means that the servers store nothing on disk.
	InMemory bool
	// Divisible means that several servers connect to each other through proxies in this process,
	// so that they can be isolated.
	Divisible bool
	// OwnDisks means that the data of each server is on a file system of its own, whose disk can hang.
	OwnDisks bool
	// Certificate is the PEM text of a certificate and its key, which every member gets in a file;
	// nil disables TLS.
	Certificate []byte
	// Authority is the PEM text of the authority whose certificates clients need; nil accepts clients without
	// one.
	Authority []byte
	// Listen is the address, host:port, at which a single server listens for clients; "" lets Start choose.
	Listen string
}

// attempts limits Start's attempts to choose ports that no other process takes before the members
// listen on them.
const attempts = 5

// Start starts the servers and returns when all of them serve. The context limits the start only.
func Start(ctx context.Context, k Kind, p Plan) (e *Ensemble, err error) {
	for range attempts {
		if e, err = start(ctx, k, p); err == nil {
			return e, nil
		}
		if ctx.Err() != nil || e.free() {
			return nil, err
		}
	}
	return nil, fmt.Errorf("every port chosen for %s was taken before it could listen: %w", k.Role, err)
}

// start makes one attempt. If it fails, the returned ensemble is closed and only its addresses are
// of use.
func start(ctx context.Context, k Kind, p Plan) (*Ensemble, error) {
	e := &Ensemble{kind: k}
	e.close = sync.OnceValue(e.end)
	err := e.settle(ctx, p)
	if err == nil {
		err = e.begin(ctx)
	}
	if err != nil {
		e.Close()
		return e, err
	}
	return e, nil
}

// settle assigns every member its place.
func (e *Ensemble) settle(ctx context.Context, p Plan) (err error) {
	dir, shared := "", Place{Durability: p.Durability}
	if !p.InMemory || p.Certificate != nil {
		if e.keeper, err = reexec.Start(ctx, KeeperRole, e.kind.Role); err != nil {
			return err
		}
		dir = e.keeper.Addr()
	}
	for _, file := range []struct {
		path *string
		name string
		text []byte
	}{
		{&shared.Certificate, "certificate.pem", p.Certificate},
		{&shared.Authority, "authority.pem", p.Authority},
		{&shared.Secret, "secret", e.secret(p, dir)},
	} {
		if file.text == nil {
			continue
		}
		*file.path = filepath.Join(dir, file.name)
		if err := os.WriteFile(*file.path, file.text, 0o600); err != nil {
			return err
		}
	}
	all, err := freeAddresses(p.Servers)
	if err != nil {
		return err
	}
	if p.Listen != "" {
		all[0].Clients = p.Listen
	}
	shared.Members = all
	if p.Divisible {
		if e.lines, err = openLines(all); err != nil {
			return err
		}
	}
	for i := range all {
		m := &member{kind: e.kind, keeper: e.keeper, lines: e.lines, place: shared}
		m.place.Number = i + 1
		if e.lines != nil {
			m.place.Proxy = e.lines.Proxy(i)
		}
		if !p.InMemory {
			m.place.Dir = filepath.Join(dir, strconv.Itoa(i+1))
			if err := os.Mkdir(m.place.Dir, 0o700); err != nil {
				return err
			}
			if m.ownDisk = p.OwnDisks; m.ownDisk {
				if err := disk.Make(ctx, m.place.Dir); err != nil {
					return err
				}
			}
		}
		e.members = append(e.members, m)
	}
	return nil
}

// secret returns a new secret, or nil if the members need none, or there is no directory to keep it in.
func (e *Ensemble) secret(p Plan, dir string) []byte {
	if !e.kind.Secret || p.Servers == 1 || dir == "" {
		return nil
	}
	return []byte(rand.Text())
}

// freeAddresses returns distinct free addresses for the servers.
func freeAddresses(servers int) ([]Addresses, error) {
	all, chosen := make([]Addresses, servers), make(map[string]bool)
	for i := range all {
		for _, a := range []*string{&all[i].Clients, &all[i].Peers, &all[i].Votes} {
			for *a == "" || chosen[*a] {
				var err error
				if *a, err = reexec.FreeAddr(); err != nil {
					return nil, err
				}
			}
			chosen[*a] = true
		}
	}
	return all, nil
}

// openLines opens the proxies between the members.
func openLines(all []Addresses) (*partition.Links, error) {
	var ports [][]string
	for _, a := range all {
		ports = append(ports, []string{a.Peers, a.Votes})
	}
	return partition.New(ports)
}

// begin starts the members concurrently, since no member of a larger ensemble serves before the
// others run.
func (e *Ensemble) begin(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, m := range e.members {
		all.Go(func() error { return m.begin(ctx) })
	}
	return all.Wait() // the first error made the others fail
}

// free reports whether all the members' addresses are free.
func (e *Ensemble) free() bool {
	for _, m := range e.members {
		own := m.place.Own()
		for _, a := range []string{own.Clients, own.Peers, own.Votes} {
			l, err := net.Listen("tcp", a)
			if err != nil {
				return false
			}
			l.Close()
		}
	}
	return true
}

// Addresses returns the members' client addresses.
func (e *Ensemble) Addresses() []string {
	var all []string
	for _, m := range e.members {
		all = append(all, m.Address())
	}
	return all
}

// Members returns the servers in a fixed order.
func (e *Ensemble) Members() []drivers.Member {
	var all []drivers.Member
	for _, m := range e.members {
		all = append(all, m)
	}
	return all
}

// Divisible reports whether members can be isolated.
func (e *Ensemble) Divisible() bool { return e.lines != nil }

// Close ends the servers in whatever state they are, and removes their files. The error reports
// servers that had ended without a call of Kill. It is safe to call Close more than once; it
// returns the same error.
func (e *Ensemble) Close() error { return e.close() }

func (e *Ensemble) end() error {
	errs := make([]error, len(e.members)+1)
	var all sync.WaitGroup
	for i, m := range e.members {
		all.Go(func() { errs[i] = m.end() })
	}
	all.Wait()
	if e.lines != nil {
		e.lines.Close()
	}
	if e.keeper != nil {
		errs[len(e.members)] = e.keeper.Stop()
	}
	return errors.Join(errs...)
}

// KeeperRole is the name of the role that runs [Keep].
const KeeperRole = "keeper"

// Keep creates a directory named after its argument in the temporary directory (TMPDIR), announces
// it, and removes it with the file systems in it at the end of the context: after the members have ended and no more
// can start.
func Keep(ctx context.Context, args []string, ready func(dir string)) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, want a name", len(args))
	}
	dir, err := os.MkdirTemp("", "stampede-"+args[0]+"-")
	if err != nil {
		return err
	}
	ready(dir)
	<-ctx.Done()
	if err := disk.Remove(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
