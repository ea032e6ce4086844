package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/drivers/cluster/partition"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

// A member is one server of an ensemble.
type member struct {
	kind   Kind
	place  Place
	keeper *reexec.Process
	lines  *partition.Links // nil if it connects directly to the others

	ownDisk bool // its directory is a file system that can be frozen

	mu      sync.Mutex
	process *reexec.Process // nil before the start and after Kill
	server  int             // ID of the server's process: that process or its child
	stopped bool
	full    bool            // the process's disk is full
	frozen  *reexec.Process // keeps the disk frozen; nil if it does not hang
}

// Name returns the member's number.
func (m *member) Name() string { return strconv.Itoa(m.place.Number) }

// Address returns the member's client address.
func (m *member) Address() string { return m.place.Own().Clients }

// PID returns the ID of the server's process, of a member that Start has started.
func PID(m drivers.Member) int {
	started := m.(*member)
	started.mu.Lock()
	defer started.mu.Unlock()
	return started.server
}

// Leads asks the member whether it is the leader.
func (m *member) Leads(ctx context.Context) (bool, error) { return m.kind.Leads(ctx, m.Address()) }

// begin starts the member and returns when it serves.
func (m *member) begin(ctx context.Context) error {
	if err := m.Restart(ctx); err != nil {
		return err
	}
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- m.kind.Serves(serving, m.place) }()
	select {
	case err := <-served:
		if err != nil {
			return fmt.Errorf("start %s: %w", m.kind.Role, err)
		}
		return nil
	case <-m.process.Done():
		cancel()
		<-served
		return fmt.Errorf("start %w", m.process.Stop())
	}
}

// Restart starts the member with the files that it has on disk.
func (m *member) Restart(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil {
		return fmt.Errorf("restart member %s: it has not been killed", m.Name())
	}
	p, err := reexec.StartKept(ctx, m.keeper, m.kind.Role, m.place.argument())
	if err != nil {
		return err
	}
	if m.server, err = strconv.Atoi(p.Addr()); err != nil {
		return errors.Join(fmt.Errorf("start %s: announced %q, want a process id", m.kind.Role, p.Addr()), p.Stop())
	}
	m.process = p
	return nil
}

// Kill kills the member's process, even if it is stopped.
func (m *member) Kill() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.runs("kill"); err != nil && !m.full {
		return err
	}
	m.kill()
	return nil
}

// kill kills the server's process and returns when it has ended. If the server runs as a child of
// the started process, kill also waits for that process, which ends with the server. It ignores the
// exit status.
func (m *member) kill() {
	if m.runs("kill") == nil {
		killProcess(m.server)
	}
	<-m.process.Done()
	m.process.Stop()
	m.process, m.stopped, m.full = nil, false, false
}

// Stop stops the member's process with SIGSTOP.
func (m *member) Stop() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.runs("stop"); err != nil {
		return err
	}
	if m.stopped {
		return fmt.Errorf("stop member %s: it is stopped already", m.Name())
	}
	if err := stopProcess(m.server); err != nil {
		return fmt.Errorf("stop member %s: %w", m.Name(), err)
	}
	m.stopped = true
	return awaitStopped(m.server)
}

// Continue resumes the member's process with SIGCONT.
func (m *member) Continue() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.runs("continue"); err != nil {
		return err
	}
	if !m.stopped {
		return fmt.Errorf("continue member %s: it is not stopped", m.Name())
	}
	if err := resumeProcess(m.server); err != nil {
		return fmt.Errorf("continue member %s: %w", m.Name(), err)
	}
	m.stopped = false
	return nil
}

// CanFillDisk reports whether the member has a disk that can be filled.
func (m *member) CanFillDisk() bool { return m.place.Dir != "" && m.kind.FillsDisks() }

// FillDisk makes all the member's writes to files fail.
func (m *member) FillDisk() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.CanFillDisk() {
		return fmt.Errorf("fill-disk member %s: %w", m.Name(), errors.ErrUnsupported)
	}
	if err := m.runs("fill-disk"); err != nil {
		return err
	}
	if m.full {
		return fmt.Errorf("fill-disk member %s: it is full already", m.Name())
	}
	if err := letGrowNothing(m.server); err != nil {
		return fmt.Errorf("fill-disk member %s: %w", m.Name(), err)
	}
	m.full = true
	return nil
}

// CanHangDisk reports whether the member has a file system of its own.
func (m *member) CanHangDisk() bool { return m.ownDisk }

// HangDisk freezes the member's file system.
func (m *member) HangDisk(ctx context.Context) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.CanHangDisk() {
		return fmt.Errorf("hang-disk member %s: %w", m.Name(), errors.ErrUnsupported)
	}
	if err := m.runs("hang-disk"); err != nil {
		return err
	}
	m.frozen, err = reexec.Start(ctx, disk.Role, m.place.Dir)
	return err
}

// ThawDisk thaws the member's file system.
func (m *member) ThawDisk() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.frozen == nil {
		return fmt.Errorf("thaw member %s: its disk does not hang", m.Name())
	}
	return m.thaw()
}

func (m *member) thaw() error {
	p := m.frozen
	m.frozen = nil
	return p.Stop()
}

// Isolate blocks the traffic between the member and the others, even if it does not run.
func (m *member) Isolate(d drivers.Direction) error {
	isolated := false
	err := m.applyToLinks("isolate", func(l *partition.Links, member int) { isolated = l.Isolate(member, d) })
	if err == nil && !isolated {
		err = fmt.Errorf("isolate member %s: it is isolated already", m.Name())
	}
	return err
}

// Delay delays all traffic between the member and the others.
func (m *member) Delay(by time.Duration) error {
	return m.applyToLinks("delay", func(l *partition.Links, member int) { l.Delay(member, by) })
}

// Throttle limits the rate of all traffic between the member and the others.
func (m *member) Throttle(rate int64) error {
	return m.applyToLinks("throttle", func(l *partition.Links, member int) { l.Throttle(member, rate) })
}

// Restore restores the traffic between the member and the others.
func (m *member) Restore() error {
	return m.applyToLinks("restore", (*partition.Links).Restore)
}

// applyToLinks applies do to the lines between the member and the others.
func (m *member) applyToLinks(what string, do func(l *partition.Links, member int)) error {
	if m.lines == nil {
		return fmt.Errorf("%s member %s: the ensemble was not started to be divided", what, m.Name())
	}
	do(m.lines, m.place.Number-1)
	return nil
}

// runs returns an error if the member has no running process: the ID of an ended process may belong
// to another one by now.
func (m *member) runs(what string) error {
	if m.process == nil {
		return fmt.Errorf("%s member %s: it has been killed", what, m.Name())
	}
	if m.frozen != nil {
		return fmt.Errorf("%s member %s: its disk hangs, so that no signal reaches it: thaw it first", what, m.Name())
	}
	select {
	case <-m.process.Done():
		return fmt.Errorf("%s member %s: it has ended by itself", what, m.Name())
	default:
		return nil
	}
}

// end ends the member for good. A stopped process has to be killed or, if it was stopped from outside, to
// continue: it cannot react to a request.
func (m *member) end() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.frozen != nil {
		if err := m.thaw(); err != nil {
			return err
		}
	}
	switch {
	case m.process == nil:
		return nil
	case m.stopped, m.full: // a member with a full disk may have ended, which is expected
		m.kill()
		return nil
	case m.runs("end") == nil:
		resumeProcess(m.server)
	}
	return m.process.Stop()
}

// A Place holds the settings with which a member is started.
type Place struct {
	Number     int         `json:"number"`     // the member's number, from 1
	Members    []Addresses `json:"members"`    // addresses of all members, in order
	Durability string      `json:"durability"` // one of the backend's durabilities
	// Proxy is the address, host:port, of the SOCKS5 proxy for all the member's connections to
	// others; "" if it connects directly. The proxy ignores the host of a requested address and
	// uses only the port.
	Proxy string `json:"proxy,omitempty"`
	// Dir is the member's own directory. It exists and contains only what the member has left in
	// it; "" if the member stores nothing.
	Dir string `json:"dir"`
	// Certificate is the PEM file with the member's certificate and key; "" without TLS.
	Certificate string `json:"certificate,omitempty"`
	// Authority is the PEM file of the authority whose certificates clients need; "" accepts clients
	// without one.
	Authority string `json:"authority,omitempty"`
	// Secret is the file with the secret that the members of the ensemble share; "" without one.
	Secret string `json:"secret,omitempty"`
}

// Addresses are the addresses at which a member listens, each host:port: for clients, for the other
// members, and for votes if these have a port of their own.
type Addresses struct {
	Clients string `json:"clients"`
	Peers   string `json:"peers"`
	Votes   string `json:"votes"`
}

// Own returns the member's own addresses.
func (p Place) Own() Addresses { return p.Members[p.Number-1] }

// argument encodes the place as a child's argument.
func (p Place) argument() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers and strings always encode
	}
	return string(text)
}

// InPlace returns a role that runs at a place and announces the process ID of the server.
func InPlace(run func(ctx context.Context, p Place, announce func(pid string)) error) reexec.Role {
	return func(ctx context.Context, args []string, ready func(string)) error {
		p, err := parsePlace(args)
		if err != nil {
			return err
		}
		return run(ctx, p, ready)
	}
}

func parsePlace(args []string) (p Place, err error) {
	if len(args) != 1 {
		return p, fmt.Errorf("%d arguments, want a place", len(args))
	}
	if err := json.Unmarshal([]byte(args[0]), &p); err != nil {
		return p, fmt.Errorf("place %s: %w", args[0], err)
	}
	if p.Number < 1 || p.Number > len(p.Members) {
		return p, fmt.Errorf("place %d of %d, want one of them", p.Number, len(p.Members))
	}
	return p, nil
}
