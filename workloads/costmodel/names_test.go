package costmodel

import (
	"math/rand/v2"
	"testing"
)

// This file simulates look-ups by clients that never wait.

// reader is one client: the names that it caches, and whether each has changed since.
type reader struct {
	keeps     bool // it caches what it has read, with a watch
	lasting   bool // the watch is persistent
	simClient *simClient
	kept      map[int]*watch // by name; fired when the name has changed
}

func (r *reader) look(w *world, name int) {
	if k := r.kept[name]; k != nil && !k.fired {
		return
	}
	w.counts.Reads++
	switch {
	case r.keeps && r.lasting:
		r.kept[name] = &watch{owner: r.simClient}
	case r.keeps:
		w.counts.WatchedGets++
		r.kept[name] = w.watchNode(r.simClient, name)
	}
}

// change changes a name. Clients with a persistent watch are notified whether they have
// read the name or not.
func change(w *world, readers []*reader, name int) {
	w.counts.Writes++
	w.fire(name)
	told := int64(0)
	for _, r := range readers {
		if r.lasting {
			told++
			if k := r.kept[name]; k != nil {
				k.fired = true
			}
		}
	}
	w.counts.Notifications += told
	w.largest = max(w.largest, told)
}

func readers(form string, n int64) []*reader {
	all := make([]*reader, n)
	for i := range all {
		all[i] = &reader{keeps: form != "names/lookup", lasting: form == "names/recursive", simClient: &simClient{}, kept: make(map[int]*watch)}
	}
	return all
}

var nameForms = []string{"names/cached", "names/recursive", "names/lookup"}

func TestNamesSettledEqualsSimulation(t *testing.T) {
	for _, form := range nameForms {
		for _, n := range []int64{1, 2, 3, 5, 8, 16} {
			for _, p := range []Params{
				{Clients: n, Names: 1, Lookups: 1, Updates: 1},
				{Clients: n, Names: 3, Lookups: 2, Updates: 2},
				{Clients: n, Names: 2, Lookups: 4, Updates: 7},
			} {
				w, _ := newWorld(nil, 0)
				all := readers(form, n)
				for u := range p.Updates + 1 {
					if u > 0 {
						change(w, all, int(u%p.Names))
					}
					for _, r := range all {
						for range p.Lookups {
							for name := range p.Names {
								r.look(w, int(name))
							}
						}
					}
				}
				model := modelOf(t, form)
				got := [...]int64{w.counts.Notifications, w.counts.Reads, w.counts.Writes, w.counts.FailedWrites, w.largest}
				if want := model.Settled(p); got != values(want) {
					t.Errorf("%s with %+v: simulated %v, formulas %v", form, p, got, values(want))
				}
				checkIdentities(t, form, model, w.counts, p.Updates)
			}
		}
	}
}

func TestNamesIdentitiesHoldUnderAnySchedule(t *testing.T) {
	for _, form := range nameForms {
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 0))
			w, _ := newWorld(nil, 0)
			all := readers(form, 7)
			for range 200 {
				if i := rng.IntN(len(all) + 1); i < len(all) {
					all[i].look(w, rng.IntN(4))
					continue
				}
				change(w, all, rng.IntN(4))
			}
			checkIdentities(t, form, modelOf(t, form), w.counts, w.counts.Writes)
		}
	}
}
