package recovery

import (
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Probe is a change that was made during a fault, only to see who notices it.
type Probe struct {
	At   time.Time // before it was made
	Path string
	Pos  int64 // of the change at the service
}

// A sight is that a session was told of a probe's change or has read it: the new value, or only that the node is there.
type sight struct {
	probe *Probe
	value bool
}

// Probe reports a change that was made, as Fault does a fault. It belongs to the latest fault before it.
func (a *Analysis) Probe(p Probe) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := len(a.probes)
	for i > 0 && a.probes[i-1].At.After(p.At) {
		i--
	}
	a.probes = slices.Insert(a.probes, i, &p)
}

// Unprobed reports that a change could not be made.
func (a *Analysis) Unprobed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unprobed++
}

// beginProbe has those notice a probe that the faults before it have hit, and that are not hit by another one yet.
func (a *Analysis) beginProbe(p *Probe) {
	a.at = latest(a.at, p.At)
	a.sought = nil
	for _, o := range a.outcomes {
		for _, r := range o.rows {
			if r.settled || r.waits {
				continue
			}
			if r.probe == nil {
				r.probe = p
			}
			if !slices.Contains(a.sought, r.probe) {
				a.sought = append(a.sought, r.probe)
			}
		}
	}
}

// sees reports whether a watch is told of changes of a node's data.
func (w thing) sees(path string) bool {
	switch w.watch {
	case onData, persistent:
		return w.path == path
	case recursive:
		return w.path == path || w.path == "/" || strings.HasPrefix(path, strings.TrimSuffix(w.path, "/")+"/")
	}
	return false
}

// told records that a session was notified of a node, which shows it any change.
func (a *Analysis) told(h *holder, path string) {
	for _, p := range a.sought {
		if p.Path == path {
			h.sights(p, true)
			h.sights(p, false)
		}
	}
}

// shown records what an answer shows of a node.
func (a *Analysis) shown(h *holder, s drivers.Sight) {
	for _, p := range a.sought {
		if !a.covers(s, p.Path) || s.Pos > 0 && s.Pos < p.Pos {
			continue
		}
		if s.Values {
			h.sights(p, true)
		}
		h.sights(p, false)
	}
}

// covers reports whether an answer shows a node. A list of ZooKeeper has the names of nodes and nothing of them.
func (a *Analysis) covers(s drivers.Sight, path string) bool {
	if !s.Below {
		return string(s.Path) == path
	}
	return a.byProcess && thing{watch: recursive, path: string(s.Path)}.sees(path)
}

func (h *holder) sights(p *Probe, value bool) {
	if s := (sight{p, value}); h.saw[s].IsZero() {
		if h.saw == nil {
			h.saw = map[sight]time.Time{}
		}
		h.saw[s] = h.a.at
	}
}

// noticed says whether the session, or the one that replaces it, has noticed the probe that was made after the fault: nil
// if it had not watched the node, or if that is not known.
func (v *finding) noticed(a *Analysis, hidden bool) *Noticed {
	p := v.probe
	if p == nil || v.o.late {
		return nil
	}
	watched, value := false, false
	for _, d := range v.had {
		if d.sees(p.Path) {
			watched, value = true, value || !d.exists
		}
	}
	if !watched {
		return nil
	}
	var at time.Time
	for _, h := range []*holder{v.h, v.by} {
		if h == nil {
			continue
		}
		if saw := h.saw[sight{p, value}]; !saw.IsZero() && (at.IsZero() || saw.Before(at)) {
			at = saw
		}
	}
	switch {
	case !at.IsZero():
		return &Noticed{Noticed: true, After: at.Sub(p.At)}
	case hidden || !a.at.After(v.fault.end()):
		return nil
	}
	return &Noticed{}
}

// add adds what one session did.
func (p *Probed) add(n *Noticed, took *sample) {
	switch {
	case n == nil:
	case n.Noticed:
		p.Noticed++
		took.add(n.After)
	default:
		p.Missed++
	}
}
