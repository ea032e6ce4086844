package capture

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A record is an Observer that keeps everything. It is safe to read when the source has ended.
type record struct {
	connections []*recorded
	missed      traffic.Coverage // all that was not decoded
	closed      func()           // called after the end of each connection; nil for nothing
}

// recorded is one connection of a record.
type recorded struct {
	traffic.Connection
	sessions []traffic.Session
	messages []string
	gap      int64
	members  []string
	closed   bool
	missed   *traffic.Coverage // of the record
	ended    func()            // of the record
}

func (r *record) Open(c traffic.Connection) traffic.Tap {
	kept := &recorded{Connection: c, missed: &r.missed, ended: r.closed}
	r.connections = append(r.connections, kept)
	return kept
}

func (c *recorded) Session(_ time.Time, s traffic.Session) { c.sessions = append(c.sessions, s) }
func (c *recorded) Members(_ time.Time, all []string)      { c.members = append(c.members, all...) }
func (c *recorded) Lease(time.Time, int64)                 {}
func (c *recorded) Owner(traffic.Process)                  {}

func (c *recorded) Close(time.Time) {
	c.closed = true
	if c.ended != nil {
		c.ended()
	}
}

func (c *recorded) Gap(_ time.Time, bytes int64, cause traffic.Cause) {
	c.gap += bytes
	c.missed.Add(traffic.Undecoded{Cause: cause, Bytes: bytes})
}

// Missed reports what no connection reports.
func (r *record) Missed(u traffic.Undecoded) { r.missed.Add(u) }

func (c *recorded) Message(_ time.Time, m drivers.Message) {
	c.messages = append(c.messages, fmt.Sprintf("%d %s %s watch=%v mode=%d event=%d err=%v pos=%d size=%d",
		m.Kind, m.Op, m.Path, m.Watch, m.Mode, m.Event, m.Err, m.Pos, m.Size))
}

// byClient returns what was reported of each client's connection.
func (r *record) byClient() map[string][]string {
	all := make(map[string][]string)
	for _, c := range r.connections {
		all[c.Client] = append(all[c.Client], fmt.Sprintf("%s %v gap %d closed %v", c.Server, c.sessions, c.gap, c.closed))
		// A client that stops ends its watches and then its connection. A proxy that is told of both at once reports
		// the end of the connection only.
		messages, ended := c.messages, fmt.Sprintf("%d %s ", drivers.Reply, drivers.OpUnwatch)
		for n := len(messages); n > 0 && strings.HasPrefix(messages[n-1], ended); n = len(messages) {
			messages = messages[:n-1]
		}
		all[c.Client] = append(all[c.Client], messages...)
	}
	return all
}

// quiet is an Observer that keeps nothing.
type quiet struct{}

func (quiet) Open(traffic.Connection) traffic.Tap { return quiet{} }
func (quiet) Session(time.Time, traffic.Session)  {}
func (quiet) Message(time.Time, drivers.Message)  {}
func (quiet) Missed(traffic.Undecoded)            {}
func (quiet) Members(time.Time, []string)         {}
func (quiet) Lease(time.Time, int64)              {}
func (quiet) Owner(traffic.Process)               {}
func (quiet) Gap(time.Time, int64, traffic.Cause) {}
func (quiet) Close(time.Time)                     {}
