package traffic

import (
	"slices"

	"github.com/stampede-bench/stampede/internal/printable"
)

// A Cause names why bytes were not decoded, as in JSON. [Causes] lists all.
type Cause string

// The causes.
const (
	Late        Cause = "late"
	Failed      Cause = "failed"
	Dropped     Cause = "dropped"
	Missing     Cause = "missing"
	Cut         Cause = "cut"
	Truncated   Cause = "truncated"
	Fragmented  Cause = "fragmented"
	OtherPorts  Cause = "other-ports"
	Joined      Cause = "joined"
	TLS         Cause = "tls"
	HTTP1       Cause = "http/1.1"
	HTTP2       Cause = "http/2"
	Sessions    Cause = "zookeeper"
	Foreign     Cause = "other-protocol"
	Upgraded    Cause = "upgraded"
	OldAPI      Cause = "etcd-v2"
	OtherPaths  Cause = "other-paths"
	JSONByHTTP2 Cause = "json-http/2"
	Otherwise   Cause = "other-branch"
	Malformed   Cause = "malformed"
	Opaque      Cause = "opaque"
	LongPaths   Cause = "long-paths"
	BeyondLimit Cause = "beyond-limits"
	Bypass      Cause = "bypass"
	Words       Cause = "four-letter-words"
	Unfinished  Cause = "unfinished"
)

// causes has a sentence for each cause, and whether nothing that counts can be missing. An unfinished
// message was not yet delivered when the connection or the capture ended, so it is as if it had been sent
// after the observation.
var causes = []struct {
	cause    Cause
	about    string
	harmless bool
}{
	{cause: Late, about: "the analysis was late"},
	{cause: Failed, about: "the analysis of the connection crashed"},
	{cause: Dropped, about: "dropped by the kernel, because the capture was late"},
	{cause: Missing, about: "missing in the capture"},
	{cause: Cut, about: "cut off by the snapshot length of the capture"},
	{cause: Truncated, about: "the file ends in the middle of a packet or is damaged: the rest is missing"},
	{cause: Fragmented, about: "fragments of IP packets, which are not put together"},
	{cause: OtherPorts, about: "no connection is to port"},
	{cause: Joined, about: "the connection is older than the capture, and cannot be decoded from the middle"},
	{cause: TLS, about: "TLS, which is encrypted"},
	{cause: HTTP1, about: "HTTP/1.1, which is not decoded"},
	{cause: HTTP2, about: "HTTP/2, which is not the protocol of the service"},
	{cause: Sessions, about: "ZooKeeper's protocol, which is not that of the service"},
	{cause: Foreign, about: "another protocol"},
	{cause: Upgraded, about: "connections that change from HTTP/1.1 to another protocol, such as WebSocket"},
	{cause: OldAPI, about: "etcd's API version 2, which is not decoded"},
	{cause: OtherPaths, about: "HTTP to paths that are not known, and that the server did not refuse"},
	{cause: JSONByHTTP2, about: "etcd's JSON gateway over HTTP/2, which is decoded over HTTP/1.1 only"},
	{cause: Otherwise, about: "etcd's transactions that wrote what they name for the case that a condition fails"},
	{cause: Malformed, about: "break the protocol"},
	{cause: Opaque, about: "messages that are compressed or too large"},
	{cause: LongPaths, about: "messages with a path of more than 1024 bytes, which are counted only"},
	{cause: BeyondLimit, about: "more than the analysis keeps"},
	{cause: Bypass, about: "a client asked for the list of members, whose addresses are not observed:"},
	{cause: Words, about: "four-letter words, which are no requests", harmless: true},
	{cause: Unfinished, about: "messages that were not complete at the end", harmless: true},
}

// Causes returns all causes, in the order in which reports list them.
func Causes() (all []Cause) {
	for _, c := range causes {
		all = append(all, c.cause)
	}
	return all
}

// rank returns the place of the cause among all causes, -1 for an unknown one.
func (c Cause) rank() int { return slices.Index(Causes(), c) }

// Description says in words what the cause is. An unknown cause is its own name.
func (c Cause) Description() string {
	if i := c.rank(); i >= 0 {
		return causes[i].about
	}
	return string(c)
}

// Harmless reports whether the bytes had no messages that could change a count.
func (c Cause) Harmless() bool {
	i := c.rank()
	return i >= 0 && causes[i].harmless
}

// Undecoded is the traffic that was not decoded for one cause.
type Undecoded struct {
	// Cause is late, failed, dropped, missing, cut, truncated, fragmented, other-ports, joined, tls,
	// http/1.1, http/2, zookeeper, other-protocol, upgraded, etcd-v2, other-paths, json-http/2, other-branch,
	// malformed, opaque, long-paths, beyond-limits, bypass, four-letter-words or unfinished.
	Cause       Cause `json:"cause"`
	Bytes       int64 `json:"bytes"`
	Packets     int64 `json:"packets"`     // that belong to no connection
	Connections int64 `json:"connections"` // that have such bytes
	// Names are the given ports without connections, and then a text with those of most packets
	// (other-ports), or the addresses that clients learned (bypass).
	Names []string `json:"names"`
}

// ThatCount returns those that could change a count. It is empty if everything that counts was decoded: what is
// harmless is left out.
func ThatCount(all []Undecoded) []Undecoded {
	return slices.DeleteFunc(slices.Clone(all), func(u Undecoded) bool { return u.Cause.Harmless() })
}

// SumBytes returns the bytes of all.
func SumBytes(all []Undecoded) (sum int64) {
	for _, u := range all {
		sum += u.Bytes
	}
	return sum
}

// Unreached is a server that a proxy could not connect clients to.
type Unreached struct {
	Server      string `json:"server"`      // host:port
	Connections int64  `json:"connections"` // that clients opened in vain
	Error       string `json:"error"`       // of the latest
}

// mostNames is how many names are kept for a cause, and longestName is more than the length in bytes of
// any address: names come from servers, which may say anything.
const (
	mostNames   = 16
	longestName = 300
)

// Coverage adds up what was not decoded. The zero value is empty.
type Coverage struct{ byCause []Undecoded }

// Add adds bytes, packets, connections and names that are not known yet.
func (c *Coverage) Add(u Undecoded) {
	i := slices.IndexFunc(c.byCause, func(x Undecoded) bool { return x.Cause == u.Cause })
	if i < 0 {
		c.byCause = append(c.byCause, Undecoded{Cause: u.Cause, Names: []string{}})
		slices.SortFunc(c.byCause, func(x, y Undecoded) int { return x.Cause.rank() - y.Cause.rank() })
		c.Add(u)
		return
	}
	sum := &c.byCause[i]
	sum.Bytes += u.Bytes
	sum.Packets += u.Packets
	sum.Connections += u.Connections
	for _, name := range u.Names {
		name = printable.Text(name[:min(len(name), longestName)])
		if len(sum.Names) < mostNames && !slices.Contains(sum.Names, name) {
			sum.Names = append(sum.Names, name)
		}
	}
}

// List returns what was not decoded, in the order of [Causes]. It is empty, not nil, if everything was.
func (c *Coverage) List() []Undecoded {
	all := make([]Undecoded, len(c.byCause))
	for i, u := range c.byCause {
		u.Names = slices.Clone(u.Names)
		all[i] = u
	}
	return all
}
