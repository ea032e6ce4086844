package naive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A PriorityLock is held by one writer or by any number of readers at a time,
// and goes to the most urgent client that waits. A client that is more urgent
// than a holder asks it to release the lock; the holder decides whether and when
// it does. Every waiting client watches the list of nodes, so an arrival or a
// release wakes all waiting clients, and each reads the line again. One
// PriorityLock serves one goroutine.
//
// Whether a client holds the lock is written in the data of the lock's node: the
// sequence numbers of the holders. An entry counts while its node exists. A
// client adds itself if the version is still that from which it has decided,
// however urgent a client is that arrives at the same time.
// Cost: N writers, each more urgent than those before, one turn each: N²−N+2
// notifications, 2N²−2N+3 reads, 4N−1 writes; a release wakes up to N.
type PriorityLock struct {
	conn  drivers.Conn
	dir   string
	node  *protected.Claim
	token int64
	end   context.CancelFunc

	request *drivers.Wait // if set, fires when a client may have asked, or let this one in
	asked   bool
}

// NewPriorityLock returns the lock at dir, an existing node without data.
func NewPriorityLock(conn drivers.Conn, dir string) *PriorityLock {
	return &PriorityLock{conn: drivers.Steady(conn), dir: dir, end: func() {}}
}

// AcquireRead waits until this client holds the lock, together with other
// readers. Of the clients that wait, one with priority 0 comes first. The
// context that it returns is for the work under the lock: it is canceled when
// ctx is, by Release, and, with cause ErrSessionLost, when the session ends. If
// AcquireRead fails, it removes its node.
func (l *PriorityLock) AcquireRead(ctx context.Context, priority uint16) (held context.Context, err error) {
	return l.acquire(ctx, fmt.Sprintf("%05d-read-", priority))
}

// AcquireWrite is like AcquireRead, but this client holds the lock alone.
func (l *PriorityLock) AcquireWrite(ctx context.Context, priority uint16) (held context.Context, err error) {
	return l.acquire(ctx, fmt.Sprintf("%05d-write-", priority))
}

func (l *PriorityLock) acquire(ctx context.Context, label string) (held context.Context, err error) {
	l.node, l.request, l.asked = protected.NewPlace(l.conn, l.dir, label), nil, false
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire priority lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *PriorityLock) wait(ctx context.Context) error {
	// 1. Create a sequential ephemeral node: this client's place in the line.
	if err := l.node.Create(ctx); err != nil {
		return err
	}
	// 2. A reader gets its own node, with a watch: a reader that another one has let
	// in, and that waits for a writer that came too late to stop it, learns so from
	// that writer's request.
	if strings.Contains(l.node.Path(), "-read-") {
		if err := l.checkRequest(ctx); err != nil {
			return err
		}
	}
	var told []string // the nodes that this client has written to
	for {
		// 3. Get the lock's node (the holders), and then its children (the line),
		// with a watch.
		var changed drivers.Wait
		line, err := l.look(ctx, changed.Fire)
		if err != nil {
			return err
		}
		// 4. If this client is among the holders, or need not wait for any node, it
		// holds the lock.
		if line.mine < line.holders || line.ahead() < 0 {
			held, err := l.hold(ctx, line)
			if err != nil || held {
				return err
			}
			continue // the holders have changed
		}
		// 5. If this client is the first that waits: ask the less urgent holders to
		// release the lock.
		for _, holder := range line.outranked() {
			if !slices.Contains(told, holder) {
				told = append(told, holder)
				if err := l.ask(ctx, holder); err != nil {
					return err
				}
			}
		}
		// 6. Wait for any child to be created or deleted, or for a request, then go
		// to step 3.
		if err := l.await(ctx, &changed); err != nil {
			return err
		}
	}
}

// await returns when the watch has fired. A request ends the wait too: it is only
// for those that hold the lock.
func (l *PriorityLock) await(ctx context.Context, watch *drivers.Wait) error {
	if l.request == nil {
		_, err := watch.Await(ctx)
		return err
	}
	fired, err := drivers.AwaitAny(ctx, watch, l.request)
	if err == nil && fired == 1 {
		err = l.checkRequest(ctx)
	}
	return err
}

// checkRequest checks whether a more urgent client has asked this one to release
// the lock, and sets the watch for the next request.
func (l *PriorityLock) checkRequest(ctx context.Context) error {
	request := &drivers.Wait{}
	priority, _, err := l.conn.Get(ctx, l.node.Path(), request.Fire)
	if err == nil {
		l.request = request
		l.asked = len(priority) > 0 && string(priority) < priorityOf(path.Base(l.node.Path()))
	}
	return err
}

// look reads the line. If changed is set, it is a watch on the line.
func (l *PriorityLock) look(ctx context.Context, changed drivers.Watch) (priorityLine, error) {
	holders, stat, err := l.conn.Get(ctx, l.dir, nil)
	if err != nil {
		return priorityLine{}, err
	}
	nodes, err := l.conn.Children(ctx, l.dir, changed)
	if err != nil {
		return priorityLine{}, err
	}
	return newPriorityLine(nodes, string(holders), stat.Version, path.Base(l.node.Path()))
}

// hold adds this client to the holders, unless it is one, and with a reader all
// readers that can hold the lock too. It returns false if it must look again.
func (l *PriorityLock) hold(ctx context.Context, line priorityLine) (held bool, err error) {
	version := line.version
	if line.mine >= line.holders {
		stat, err := l.conn.Set(ctx, l.dir, []byte(line.next()), version)
		if errors.Is(err, drivers.ErrBadVersion) || errors.Is(err, drivers.ErrConnectionLoss) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		version = stat.Version
	}
	l.token = int64(version)
	return true, nil
}

// ask writes this client's priority in the node, if the node still exists.
func (l *PriorityLock) ask(ctx context.Context, node string) error {
	err := drivers.Repeat(ctx, func() error { // a second request does no harm
		_, err := l.conn.Set(ctx, path.Join(l.dir, node), []byte(priorityOf(path.Base(l.node.Path()))), drivers.AnyVersion)
		return err
	})
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// Revoked is for the holder: it returns when a more urgent client has asked the
// holder to release the lock. ErrNoNode means that another client has deleted
// the holder's node, so that it no longer holds the lock.
func (l *PriorityLock) Revoked(ctx context.Context) error {
	for !l.asked {
		var err error
		if l.request != nil {
			_, err = l.request.Await(ctx)
		}
		if err == nil {
			err = l.checkRequest(ctx)
		}
		if err != nil {
			return fmt.Errorf("wait to be asked for priority lock %s: %w", l.dir, err)
		}
	}
	return nil
}

// Token returns the holder's fencing token. A resource that a writer with a
// higher token has used must refuse this one.
func (l *PriorityLock) Token() int64 { return l.token }

// Release cancels the context that the client acquired and deletes the node, so
// that other clients can hold the lock. If Release fails, it can be called
// again. ErrNoNode means that another client has deleted the node.
func (l *PriorityLock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release priority lock %s: %w", l.dir, err)
	}
	return nil
}

// A priorityLine is the line of a priority lock, as one client has read it: the
// holders, then the others, the most urgent first, and those of the same
// priority in the order of their arrival.
type priorityLine struct {
	nodes   []drivers.Child
	holders int   // how many of the nodes
	mine    int   // the index of the client's own node
	version int32 // of the data that names the holders
}

// newPriorityLine returns the line of these nodes. The holders are the numbers
// of those that were there when the data was written, and mine is the client's
// own node.
func newPriorityLine(nodes []drivers.Child, holders string, version int32, mine string) (priorityLine, error) {
	seqs := map[string]bool{}
	for _, seq := range strings.Fields(holders) {
		seqs[seq] = true
	}
	line := priorityLine{nodes: nodes, version: version, mine: -1}
	others := func(c drivers.Child) int {
		if seqs[strconv.FormatInt(c.Seq, 10)] {
			return 0
		}
		return 1
	}
	slices.SortFunc(nodes, func(a, b drivers.Child) int {
		return cmp.Or(cmp.Compare(others(a), others(b)),
			cmp.Compare(priorityOf(a.Name), priorityOf(b.Name)), cmp.Compare(a.Seq, b.Seq))
	})
	for i, c := range nodes {
		line.holders += 1 - others(c)
		if c.Name == mine {
			line.mine = i
		}
	}
	if line.mine < 0 {
		return line, fmt.Errorf("%s is no longer in the line: %w", mine, drivers.ErrNoNode)
	}
	return line, nil
}

// ahead returns the index of the nearest node that the client has to wait for:
// a writer for any, a reader for a writer's. It returns -1 if there is none.
func (p priorityLine) ahead() int {
	i := p.mine - 1
	for i >= 0 && !writes(p.nodes[p.mine]) && !writes(p.nodes[i]) {
		i--
	}
	return i
}

// next returns the holders once the client holds the lock: with a reader, all
// readers up to the first writer.
func (p priorityLine) next() string {
	n := p.mine + 1
	for n < len(p.nodes) && !writes(p.nodes[p.mine]) && !writes(p.nodes[n]) {
		n++
	}
	seqs := make([]string, n)
	for i, c := range p.nodes[:n] {
		seqs[i] = strconv.FormatInt(c.Seq, 10)
	}
	return strings.Join(seqs, " ")
}

// outranked returns the holders that are less urgent than the client, and that
// it has to wait for, if it is the first that waits.
func (p priorityLine) outranked() (holders []string) {
	if p.mine != p.holders {
		return nil
	}
	mine := p.nodes[p.mine]
	for _, c := range p.nodes[:p.holders] {
		if priorityOf(mine.Name) < priorityOf(c.Name) && (writes(mine) || writes(c)) {
			holders = append(holders, c.Name)
		}
	}
	return holders
}

// priorityOf returns the part of a node's name that says its priority, after the
// GUID.
func priorityOf(name string) string {
	_, label, _ := strings.Cut(name, "-")
	priority, _, _ := strings.Cut(label, "-")
	return priority
}

func writes(c drivers.Child) bool { return strings.Contains(c.Name, "-write-") }
