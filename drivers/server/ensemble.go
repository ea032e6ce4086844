package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/peers"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
	"github.com/stampede-bench/stampede/drivers/server/replica"
)

// An Ensemble says which member of which ensemble a server is.
type Ensemble struct {
	ID        uint64            // from 1 to MaxID
	Addresses map[uint64]string // of all members for each other, host:port, by ID
	Listener  net.Listener      // at the member's own address; the server closes it
	// Secret authenticates members to each other; nil does not.
	Secret []byte
	// Server is the configuration of TLS for connections from members, and Client returns that for one to a
	// member. nil means no TLS.
	Server *tls.Config
	Client func() *tls.Config
	// Dial opens connections to other members; nil means directly.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log is the member's log. It must stay open for longer than the server.
	Log *raftlog.Log
	// Report is called with the errors of connections to and from members; nil ignores them.
	Report func(error)
}

// MaxID is the highest ID of a member: it is part of session IDs.
const MaxID = 127

// ensemble is the part of a server that replicates its state. The server's lock guards the member.
type ensemble struct {
	server   *Server
	settings Ensemble
	member   *replica.Member
	peers    *peers.Peers
	log      *raftlog.Log
	disk     *disk
	progress chan struct{} // closed and replaced when proposals were applied
	waiters  bool          // a connection waits for progress
	failed   error         // the reason why the server was closed
	joining  bool          // until the file that says so is removed
	notices  []string      // of the member for the operator, to be reported without the lock
	identity atomic.Uint64 // of the ensemble, for other goroutines
}

// memberTick is the interval of the member's ticks. With it, a leader is replaced within one to two
// seconds of silence, or a few ticks after its connections broke.
const memberTick = 100 * time.Millisecond

// NewMember returns a server that is a member of an ensemble. It serves clients while it keeps up with a
// leader that a majority confirms, see package replica.
func NewMember(o Options, e Ensemble) (*Server, error) {
	s := prepare(o)
	s.lastID = firstSessionID(s.start) | int64(e.ID)<<56
	x := &ensemble{server: s, settings: e, log: e.Log, progress: make(chan struct{})}
	state, err := lastState(e.Log)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Log.Dir().Path, err)
	}
	var copied bool
	if x.joining, copied, err = isJoining(e.Log); err != nil {
		return nil, err
	}
	if copied {
		x.Report("its directory was copied or restored, and may lack what it has confirmed: it joins as an empty one does")
	}
	var boot [8]byte
	rand.Read(boot[:])
	x.member, err = replica.New(replica.Config{ID: e.ID, Members: slices.Sorted(maps.Keys(e.Addresses)), Storage: e.Log, State: state,
		Joining: x.joining, Boot: binary.BigEndian.Uint64(boot[:]), Handler: x})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Log.Dir().Path, err)
	}
	x.disk = newDisk(x)
	if x.settings.Dial == nil {
		x.settings.Dial = (&net.Dialer{}).DialContext
	}
	s.mu.Lock()
	s.ensemble = x
	x.adopt()
	x.member.Flush() // applies the entries that the log shows to be committed: one of them has the identity
	x.identity.Store(state.Ensemble())
	x.peers = peers.Start(peers.Config{ID: e.ID, Addresses: e.Addresses, Secret: e.Secret, Server: e.Server, Client: e.Client,
		Ensemble: x.identity.Load, Versions: x.versions, Dial: x.settings.Dial, Member: x, Report: x.report}, e.Listener)
	s.unlock()
	s.live.Go(x.disk.run)
	s.live.Go(x.keepTicking)
	s.live.Go(x.keepPlace)
	s.live.Go(func() { s.keepSnapshots(x.log.Due(), x.saveSnapshot) })
	return s, nil
}

// lastState returns the state of the last snapshot.
func lastState(log *raftlog.Log) (*replica.State, error) {
	shot, err := log.OpenSnapshot()
	if err != nil {
		return nil, err
	}
	if shot == nil {
		return replica.NewState(), nil
	}
	defer shot.Close()
	return replica.ReadState(shot.Next)
}

// adopt makes the member's state the server's.
func (e *ensemble) adopt() {
	s := e.server
	state := e.member.State()
	s.tree = state.Tree()
	clear(s.sessions)
	for id, o := range state.Owners() {
		s.sessions[id] = &session{id: id, timeout: timeoutOf(o)}
	}
}

// report reports an error of the connection with another member, or with a caller that is none (0). A server
// that ends breaks all of them itself.
func (e *ensemble) report(id uint64, err error) {
	select {
	case <-e.server.done:
	default:
		who := fmt.Sprintf("member %d", id)
		if id == 0 {
			who = "a connection to this member's address in --peers"
		}
		e.reportError(fmt.Errorf("%s: %w", who, err))
	}
}

func (e *ensemble) reportError(err error) {
	if err != nil && e.settings.Report != nil {
		e.settings.Report(err)
	}
}

// carryOut passes on what the member wants done. The caller holds the lock.
func (e *ensemble) carryOut() {
	e.member.Flush()
	out := e.member.Take()
	e.identity.Store(e.member.State().Ensemble())
	if len(out.Messages) > 0 {
		e.peers.Send(out.Messages)
	}
	if len(out.Appends) > 0 {
		e.disk.add(out.Appends)
	}
	if err := e.member.Err(); err != nil {
		e.fail(fmt.Errorf("member %d: %w", e.settings.ID, err))
	}
	if e.waiters && e.roomy() {
		e.waiters = false
		close(e.progress)
		e.progress = make(chan struct{})
	}
}

// fail closes the server. The caller holds the lock.
func (e *ensemble) fail(err error) {
	if e.failed == nil && !e.server.closed {
		e.failed = err
		go e.server.shut()
	}
}

// serving reports whether the member serves clients. It serves none before it has noted that it has joined:
// if it ended in between, its vote would not count after its restart. The caller holds the lock.
func (e *ensemble) serving() bool { return e.member.Serving() && !e.joining }

// versions returns what the member tells others.
func (e *ensemble) versions() replica.Versions {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	return e.member.Versions()
}

// do calls the function with the lock unless the server is closed.
func (e *ensemble) do(f func()) {
	e.server.mu.Lock()
	defer e.server.unlock()
	if !e.server.closed {
		e.look()
		f()
	}
}

// look tells the member the time. The caller holds the lock. It must call look before it does anything that can
// answer a client: the process may have been stopped until then.
func (e *ensemble) look() { e.member.Look(time.Since(e.server.start)) }

// Report implements replica.Handler.
func (e *ensemble) Report(what string) { e.notices = append(e.notices, what) }

func (e *ensemble) keepTicking() {
	tick := time.NewTicker(memberTick)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			joined := false
			var notices []string
			e.do(func() {
				e.tick(now)
				joined = e.joining && !e.member.Joining()
				notices, e.notices = e.notices, nil
			})
			for _, what := range notices {
				e.reportError(fmt.Errorf("member %d: %s", e.settings.ID, what))
			}
			if joined {
				err := e.hasJoined()
				e.do(func() { e.joining = false })
				e.reportError(err)
			}
		case <-e.server.done:
			e.peers.Close()
			e.disk.close()
			return
		}
	}
}

func (e *ensemble) tick(now time.Time) {
	if e.waiters { // clients whose requests the server leaves unread are not silent
		for c := range e.server.conns {
			if c.waits && c.session != nil {
				e.member.Touch(c.session.id)
			}
		}
	}
	e.member.Tick(time.Since(e.server.start), now.UnixMilli())
}

// Receive implements peers.Member.
func (e *ensemble) Receive(all []replica.Message) {
	e.do(func() {
		for _, x := range all {
			e.member.Step(x)
		}
	})
}

// Lost implements peers.Member.
func (e *ensemble) Lost(id uint64) { e.do(func() { e.member.Lost(id) }) }

// SnapshotSent implements peers.Member.
func (e *ensemble) SnapshotSent(id uint64, ok bool) { e.do(func() { e.member.SnapshotSent(id, ok) }) }

// Snapshot implements peers.Member.
func (e *ensemble) Snapshot() (peers.Snapshot, error) {
	shot, err := e.log.OpenSnapshot()
	if err == nil && shot == nil {
		err = errors.New("no snapshot")
	}
	if err != nil {
		return nil, err
	}
	return shot, nil
}

// Store implements peers.Member.
func (e *ensemble) Store(x replica.Message, r io.Reader) error {
	got, err := e.log.Receive(r)
	if err != nil {
		return err
	}
	if want, index := x.Raft.GetSnapshot().GetMetadata().GetIndex(), got.Metadata().GetIndex(); want != index {
		return errors.Join(fmt.Errorf("of entry %d, and its message says %d", index, want), got.Discard())
	}
	return e.disk.receive(x, got)
}
