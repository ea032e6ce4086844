package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// clients lists the connections, oldest first.
func (s *Server) clients(describe func(*conn) string) string {
	var b strings.Builder
	for _, c := range s.oldestFirst() {
		fmt.Fprintf(&b, " %s[%d](%s)\n", c.remote(), c.interest(), describe(c))
	}
	b.WriteByte('\n')
	return b.String()
}

func (s *Server) oldestFirst() []*conn {
	return slices.SortedFunc(maps.Keys(s.conns), func(a, b *conn) int {
		return cmp.Or(a.traffic.opened.Compare(b.traffic.opened), cmp.Compare(a.remote(), b.remote()))
	})
}

// remote returns the client's address in Java's format.
func (c *conn) remote() string { return "/" + c.net.RemoteAddr().String() }

// interest is 1 for a connection with a session, and 0 for one without, such as that of a
// four-letter word.
func (c *conn) interest() int {
	if c.session == nil {
		return 0
	}
	return 1
}

// brief returns the fields that "stat" shows for a connection.
func (c *conn) brief() string {
	return fmt.Sprintf("queued=0,recved=%d,sent=%d", c.traffic.received, c.traffic.sent)
}

// full returns the fields that "cons" shows for a connection.
func (c *conn) full() string {
	if c.session == nil {
		return c.brief()
	}
	t := &c.traffic
	text := fmt.Sprintf("%s,sid=0x%x,lop=%s,est=%d,to=%d", c.brief(), c.session.id, operation(t.last.Op),
		t.opened.UnixMilli(), c.session.timeout.Milliseconds())
	if t.last.Xid >= 0 {
		text += fmt.Sprintf(",lcxid=0x%x", t.last.Xid)
	}
	var answered int64
	if !t.answered.IsZero() {
		answered = t.answered.Sub(c.server.start).Milliseconds()
	}
	return text + fmt.Sprintf(",lzxid=0x%x,lresp=%d,llat=%d,minlat=%d,avglat=%d,maxlat=%d",
		t.zxid, answered, t.lag, t.latency.min, t.latency.sum/max(t.latency.count, 1), t.latency.max)
}

// dump lists when sessions and connections expire, and the ephemeral nodes of the sessions.
func (s *Server) dump() string {
	var b strings.Builder
	sessions, conns := expiries{}, expiries{}
	for _, x := range s.sessions {
		sessions.add(s.start.Add(time.Duration(x.expires)*s.tick), fmt.Sprintf("0x%x", x.id))
	}
	for c := range s.conns {
		at, id := c.traffic.opened.Add(handshakeTime), int64(0)
		if c.session != nil {
			at, id = s.start.Add(time.Duration(c.session.expires)*s.tick), c.session.id
		}
		conns.add(at, fmt.Sprintf("ip: %s sessionId: 0x%x", c.remote(), id))
	}
	fmt.Fprintf(&b, "SessionTracker dump:\nSession %sephemeral nodes dump:\n", sessions)
	b.WriteString(s.ephemerals())
	fmt.Fprintf(&b, "Connections dump:\nConnections %s", conns)
	return b.String()
}

// expiries maps a Unix time in seconds to the items that expire then.
type expiries map[int64][]string

func (e expiries) add(at time.Time, what string) { e[at.Unix()] = append(e[at.Unix()], what) }

// String lists them as ZooKeeper does.
func (e expiries) String() string {
	var b strings.Builder
	count := 0
	for _, list := range e {
		count += len(list)
	}
	fmt.Fprintf(&b, "Sets (%d)/(%d):\n", len(e), count)
	for _, at := range slices.Sorted(maps.Keys(e)) {
		fmt.Fprintf(&b, "%d expire at %s:\n", len(e[at]), time.Unix(at, 0).Format("Mon Jan 02 15:04:05 MST 2006"))
		for _, what := range slices.Sorted(slices.Values(e[at])) {
			fmt.Fprintf(&b, "\t%s\n", what)
		}
	}
	return b.String()
}

func (s *Server) ephemerals() string {
	owned := map[string][]string{}
	for id := range s.sessions {
		if paths := slices.Sorted(s.tree.Ephemerals(id)); len(paths) > 0 {
			owned[fmt.Sprintf("0x%x", id)] = paths
		}
	}
	return fmt.Sprintf("Sessions with Ephemerals (%d):\n", len(owned)) + tabbed(owned, ":")
}

// tabbed lists each key and, on the following lines behind a tab, its items.
func tabbed(lists map[string][]string, colon string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(&b, "%s%s\n", key, colon)
		for _, item := range lists[key] {
			fmt.Fprintf(&b, "\t%s\n", item)
		}
	}
	return b.String()
}
