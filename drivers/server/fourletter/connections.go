package fourletter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// clients lists the connections, oldest first.
func (s State) clients(describe func(State, Client) string) string {
	var b strings.Builder
	oldestFirst := slices.SortedFunc(slices.Values(s.Clients()), func(x, y Client) int {
		return cmp.Or(x.Traffic.Opened.Compare(y.Traffic.Opened), cmp.Compare(x.Address, y.Address))
	})
	for _, c := range oldestFirst {
		fmt.Fprintf(&b, " %s[%d](%s)\n", c.name(), c.interest(), describe(s, c))
	}
	b.WriteByte('\n')
	return b.String()
}

// name returns the client's address in Java's format.
func (c Client) name() string { return "/" + c.Address }

// interest is 1 for a connection with a session, and 0 for one without, such as that of a
// four-letter word.
func (c Client) interest() int {
	if c.Session == nil {
		return 0
	}
	return 1
}

// brief returns the fields that "stat" shows for a connection.
func (s State) brief(c Client) string {
	return fmt.Sprintf("queued=0,recved=%d,sent=%d", c.Traffic.Received, c.Traffic.Sent)
}

// full returns the fields that "cons" shows for a connection.
func (s State) full(c Client) string {
	if c.Session == nil {
		return s.brief(c)
	}
	t := c.Traffic
	text := fmt.Sprintf("%s,sid=0x%x,lop=%s,est=%d,to=%d", s.brief(c), c.Session.ID, operation(t.Last.Op),
		t.Opened.UnixMilli(), c.Session.Timeout.Milliseconds())
	if t.Last.Xid >= 0 {
		text += fmt.Sprintf(",lcxid=0x%x", t.Last.Xid)
	}
	var answered int64
	if !t.Answered.IsZero() {
		answered = t.Answered.Sub(s.Start).Milliseconds()
	}
	return text + fmt.Sprintf(",lzxid=0x%x,lresp=%d,llat=%d,minlat=%d,avglat=%d,maxlat=%d",
		t.Zxid, answered, t.Lag, t.Latency.Min, t.Latency.Sum/max(t.Latency.Count, 1), t.Latency.Max)
}

// dump lists when sessions and connections expire, and the ephemeral nodes of the sessions.
func (s State) dump() string {
	var b strings.Builder
	sessions, conns := expiries{}, expiries{}
	open := s.OpenSessions()
	for _, x := range open {
		sessions.add(x.Expires, fmt.Sprintf("0x%x", x.ID))
	}
	for _, c := range s.Clients() {
		var id int64
		if c.Session != nil {
			id = c.Session.ID
		}
		conns.add(c.Expires, fmt.Sprintf("ip: %s sessionId: 0x%x", c.name(), id))
	}
	fmt.Fprintf(&b, "SessionTracker dump:\nSession %sephemeral nodes dump:\n", sessions)
	b.WriteString(ephemerals(open))
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

func ephemerals(sessions []Session) string {
	owned := map[string][]string{}
	for _, s := range sessions {
		if paths := slices.Sorted(s.Ephemerals); len(paths) > 0 {
			owned[fmt.Sprintf("0x%x", s.ID)] = paths
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
