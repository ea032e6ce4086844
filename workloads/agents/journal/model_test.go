package journal

import (
	"math/rand/v2"
	"path"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// A model is a service with one-time watches and its clients. It has one order of requests. Replies and
// notifications come to each client in order, and at random times.
type model struct {
	rng       *rand.Rand
	now       time.Duration // true time
	positions bool          // notifications have positions
	pos       int64
	nodes     map[string]bool
	watches   map[watch]bool
	clients   []*client
	meter     *fanout.Meter   // sees all clients, without delay
	window    *metrics.Window // of the meter
}

type watch struct {
	client   int
	path     string
	children bool
}

type client struct {
	probe    drivers.Probe
	up, down []drivers.Message
}

var modelPaths = []string{"/l", "/l/a", "/l/b", "/m"}

// newModel returns a model whose clients are divided among the journals, in turn.
func newModel(seed uint64, clients, agents int, positions bool) (*model, []*Journal, []time.Duration) {
	m := &model{rng: rand.New(rand.NewPCG(seed, 1)), now: time.Second, positions: positions, nodes: map[string]bool{}, watches: map[watch]bool{}, window: metrics.NewWindow()}
	m.meter = fanout.NewMeterAt(m.window, func() time.Time { return time.Unix(0, int64(m.now)) })
	var journals []*Journal
	var offsets []time.Duration
	for range agents {
		offset := time.Duration(m.rng.Int64N(int64(time.Hour)))
		offsets = append(offsets, offset)
		journals = append(journals, New(func() time.Duration { return m.now + offset }))
	}
	for i := range clients {
		m.clients = append(m.clients, &client{probe: journals[i%agents].Probe(i, m.meter.Session())})
	}
	return m, journals, offsets
}

// step has a client ask, the service answer, or a packet arrive.
func (m *model) step(asking bool) {
	m.now += time.Duration(m.rng.Int64N(int64(200 * time.Microsecond)))
	number := m.rng.IntN(len(m.clients))
	c := m.clients[number]
	switch m.rng.IntN(3) {
	case 0:
		if asking && len(c.up)+len(c.down) < 3 {
			r := m.request()
			c.probe.Message(r)
			c.up = append(c.up, r)
		}
	case 1:
		if len(c.up) > 0 {
			r := c.up[0]
			c.up = c.up[1:]
			m.answer(number, r)
		}
	default:
		if len(c.down) > 0 {
			c.probe.Message(c.down[0])
			c.down = c.down[1:]
		}
	}
}

// run takes steps with new requests, and then delivers everything.
func (m *model) run(steps int) {
	for range steps {
		m.step(true)
	}
	for range 400 * len(m.clients) {
		m.step(false)
	}
}

func (m *model) request() drivers.Message {
	ops := []drivers.Op{drivers.OpCreate, drivers.OpDelete, drivers.OpSet, drivers.OpGet, drivers.OpExists, drivers.OpChildren, drivers.OpPing}
	r := drivers.Message{Kind: drivers.Request, Op: ops[m.rng.IntN(len(ops))]}
	if r.Op != drivers.OpPing {
		r.Path = []byte(modelPaths[m.rng.IntN(len(modelPaths))])
	}
	r.Watch = r.Op.IsRead() && m.rng.IntN(4) > 0
	return r
}

func (m *model) answer(number int, r drivers.Message) {
	p := string(r.Path)
	there := m.nodes[p]
	if r.Op.IsWrite() {
		m.pos++
	}
	switch {
	case r.Op == drivers.OpPing:
	case r.Op == drivers.OpCreate && there:
		r.Err = drivers.ErrNodeExists
	case r.Op == drivers.OpCreate:
		m.nodes[p] = true
		m.fire(drivers.Created, watch{path: p})
		m.fire(drivers.ChildrenChanged, watch{path: path.Dir(p), children: true})
	case r.Op == drivers.OpExists && r.Watch:
		m.watches[watch{number, p, false}] = true
		if !there {
			r.Err = drivers.ErrNoNode
		}
	case !there:
		r.Err = drivers.ErrNoNode
	case r.Op == drivers.OpDelete:
		delete(m.nodes, p)
		m.fire(drivers.Deleted, watch{path: p}, watch{path: p, children: true})
		m.fire(drivers.ChildrenChanged, watch{path: path.Dir(p), children: true})
	case r.Op == drivers.OpSet:
		m.fire(drivers.DataChanged, watch{path: p})
	case r.Watch:
		m.watches[watch{number, p, r.Op == drivers.OpChildren}] = true
	}
	r.Kind, r.Pos = drivers.Reply, m.pos
	m.clients[number].down = append(m.clients[number].down, r)
}

// fire sends one packet to each client that has any of the watches.
func (m *model) fire(e drivers.EventType, all ...watch) {
	for number, c := range m.clients {
		fired := false
		for _, w := range all {
			w.client = number
			fired = fired || m.watches[w]
			delete(m.watches, w)
		}
		if fired {
			n := drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte(all[0].path)}
			if m.positions {
				n.Pos = m.pos
			}
			c.down = append(c.down, n)
		}
	}
}
