package faults_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A crowd is a program whose clients do not change.
type crowd []faults.Client

func (c crowd) Clients() []faults.Client { return slices.Clone(c) }

func (c crowd) Numbered(n int) (faults.Client, bool) { return c[n-1], false }

func (c crowd) Named(bool, string) []faults.Client { return nil }

// drawn returns what random faults of clients do, and to whom, with a seed.
func drawn(t *testing.T, seed uint64) (what []string) {
	bubble.Test(t, func(t *testing.T) {
		d := &diary{start: time.Now()}
		var program crowd
		for i := range 20 {
			program = append(program, observed{&client{diary: d, number: i + 1}})
		}
		s := faults.Nemesis(seed, faults.Powers{Program: true, Members: 2, Window: 50 * time.Second}, time.Second)
		err := s.Do(minute(t), faults.Subjects{Program: program, Seed: seed}, func(done faults.Done) {
			if done.Step > 0 {
				return
			}
			victims := []int{}
			for i, c := range program {
				if slices.Contains(done.Clients, c) {
					victims = append(victims, i+1)
				}
			}
			what = append(what, fmt.Sprintf("%v %s: %v", time.Since(d.start), done.What, victims))
		})
		if err != nil {
			t.Error(err)
		}
	})
	return what
}

// observed is a client of another program whose faults are not noted.
type observed struct{ *client }

func (o observed) Number() int { return o.client.number }

func (observed) Now() faults.Hit { return faults.Hit{} }
func (observed) Hold(bool)       {}
func (observed) Move()           {}

func (observed) EndWatches(faults.Verb, string) []string { return nil }

func (observed) Expire(context.Context) error { return nil }

// TestSeed has two runs with one seed do the same to the same clients at the same times, and another seed something else.
func TestSeed(t *testing.T) {
	first := drawn(t, 7)
	if len(first) < 40 {
		t.Fatalf("%d faults, want 40 or more", len(first))
	}
	if diff := cmp.Diff(first, drawn(t, 7)); diff != "" {
		t.Errorf("another run with the same seed (-first +second):\n%s", diff)
	}
	if slices.Equal(first, drawn(t, 8)) {
		t.Error("another seed does the same")
	}
}
