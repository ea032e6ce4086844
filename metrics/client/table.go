package client

import (
	"cmp"
	"net"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A Table knows the clients that were observed. It is not safe for concurrent use.
type Table struct {
	limit   int // of the leases that are followed
	origins map[origin]*Origin
	others  *Origin // nil unless there were too many
	leases  map[int64]*lease
	order   []int64 // their numbers, oldest first; some were revoked
}

// New returns a Table of no clients that follows that many leases. The newest are followed if there are more.
func New(leases int) *Table {
	return &Table{limit: max(leases, 1), origins: map[origin]*Origin{}, leases: map[int64]*lease{}}
}

// An origin names an Origin.
type origin struct {
	process traffic.Process // zero for an address
	address string
}

// A Row is what a local process, or an address whose process is not known, has asked for.
type Row struct {
	Process       *Process `json:"process"` // null if it is not known
	Address       string   `json:"address"` // of its connections, without a port; "" for all that are beyond the limit
	Connections   int64    `json:"connections"`
	Sessions      int64    `json:"sessions"` // a session counts in one row
	Requests      int64    `json:"requests"`
	RequestsPerS  float64  `json:"requests_per_s"` // on average over the observation, 0 if that took no time
	Notifications int64    `json:"notifications"`
}

// Idle reports whether the client has connected and asked for nothing, as one that waits for a port.
func (r Row) Idle() bool { return r.Requests+r.Sessions == 0 }

// A Process is a process of the machine on which the observation was made.
type Process struct {
	ID   int    `json:"pid"`
	Name string `json:"name"` // of its program, without arguments
}

// Rows returns a row for each process and address that has connections, those with most requests first. The
// observation has taken so long.
func (t *Table) Rows(length time.Duration) (all []Row) {
	used := t.used()
	slices.SortFunc(used, func(x, y *Origin) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(y.Connections, x.Connections),
			cmp.Compare(x.pid(), y.pid()), cmp.Compare(x.Address, y.Address))
	})
	for _, o := range used {
		r := o.Row
		if r.Sessions = o.counts().Total(); length > 0 {
			r.RequestsPerS = float64(r.Requests) / length.Seconds()
		}
		all = append(all, r)
	}
	return all
}

// An Origin is a local process, or an address without a port whose process is not known.
type Origin struct {
	Row
	sessions Counts   // plain ones of a process are in slots
	leased   *Session // the latest with leases
	slots    int64    // places for plain sessions of a process: as many as were open at once
	free     []*slot  // those that are not taken, the one that is free for longest first
	apart    bool     // connections of it are known to be of different clients
	alone    *Session // the latest whose connection carries nothing but a watch, nil if there is none
	late     bool     // a connection was known to be of the process only after its first request
	loose    bool     // requests of its clients may have come by connections whose process is not known; see Resolve
	only     *Session // to which all its connections belong, nil if there is none; see Resolve
}

// A slot is a place for one plain session of a process at a time.
type slot struct {
	until time.Time // the end of the latest session in it, zero before the first has ended
}

// Counts are numbers of sessions, by what told them apart.
type Counts struct {
	Numbered    int64 `json:"session_ids"` // by the number that the service gave them
	Leased      int64 `json:"leases"`      // by the leases that their connections use
	Processes   int64 `json:"processes"`   // by their process, those without a lease: as many as were open at once
	Connections int64 `json:"connections"` // each connection is one
}

// Total returns the sum.
func (c Counts) Total() int64 { return c.Numbered + c.Leased + c.Processes + c.Connections }

func (c Counts) add(o Counts) Counts {
	return Counts{c.Numbered + o.Numbered, c.Leased + o.Leased, c.Processes + o.Processes, c.Connections + o.Connections}
}

// maxOrigins is how many processes and addresses are told apart. Further ones are one.
const maxOrigins = 4096

func (t *Table) origin(p traffic.Process, address string) *Origin {
	key := origin{process: p}
	if p == (traffic.Process{}) {
		key.address = address
	}
	if o := t.origins[key]; o != nil {
		return o
	}
	if len(t.origins) >= maxOrigins {
		if t.others == nil {
			t.others = &Origin{}
		}
		return t.others
	}
	o := &Origin{Row: Row{Address: address}}
	if key.address == "" {
		o.Process = &Process{p.ID, p.Name}
	}
	t.origins[key] = o
	return o
}

// Open begins a connection.
func (t *Table) Open(c traffic.Connection) *Connection {
	host, _, err := net.SplitHostPort(c.Client)
	if err != nil {
		host = c.Client
	}
	n := &Connection{table: t, from: c.At, origin: t.origin(traffic.Process{}, cmp.Or(host, "unknown"))}
	n.origin.Connections++
	return n
}

// used returns the processes and addresses that have connections or sessions, in no order.
func (t *Table) used() (all []*Origin) {
	for _, o := range t.origins {
		all = append(all, o)
	}
	if t.others != nil {
		all = append(all, t.others)
	}
	return slices.DeleteFunc(all, func(o *Origin) bool { return o.Connections+o.counts().Total() == 0 })
}

func (o *Origin) pid() int {
	if o.Process == nil {
		return 0
	}
	return o.Process.ID
}

// Clients returns how many processes, and addresses whose process is not known, have sessions or requests.
func (t *Table) Clients() (n int) {
	for _, r := range t.Rows(0) {
		if !r.Idle() {
			n++
		}
	}
	return n
}

// Counts returns how many sessions there were.
func (t *Table) Counts() (sum Counts) {
	for _, o := range t.used() {
		sum = sum.add(o.counts())
	}
	return sum
}

// counts returns how many sessions of the origin there were, each counted at one origin.
func (o *Origin) counts() Counts {
	switch {
	case o.only != nil && o.only.kind == leased:
		return Counts{Leased: 1}
	case o.only != nil:
		return Counts{Processes: 1}
	}
	c := o.sessions
	c.Processes = o.slots
	return c
}

// mostOfOne is how many connections without a lease one client is believed to have at once.
const mostOfOne = 8

// may reports whether all connections of the process may be of one client.
func (o *Origin) may() bool {
	one := o.sessions.Leased == o.sessions.Total() && o.sessions.Leased <= 1
	several := o.sessions.Leased == 1 && o.slots > 0
	return o.Process != nil && !o.apart && one && (several || o.alone != nil) && o.slots <= mostOfOne
}

// Resolve decides, by what is known until now, which processes are one client. Each set has the
// sessions that watch one path pattern. Until then sessions are told apart by leases and connections alone;
// [Table.Forget] undoes it.
func (t *Table) Resolve(watching []Set) {
	t.Forget()
	for _, s := range watching {
		s.watchedBy()
	}
	for _, o := range t.origins {
		switch {
		case o.may() && o.sessions.Leased == 0:
			o.only = o.alone.root()
		case o.may() && o.leased.root().origin == o:
			o.only = o.leased.root()
		}
		unknown := t.origins[origin{address: o.Address}]
		o.loose = o.late || unknown != nil && unknown.Requests > 0
	}
}

// Forget undoes Resolve.
func (t *Table) Forget() {
	for _, o := range t.origins {
		o.only = nil
	}
}
