package load_test

import (
	"context"
	"math"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// keysOf reads all keys of a mix.
func keysOf(ctx context.Context, admin drivers.Conn, base string, key func(name string, data []byte, s drivers.Stat)) error {
	folders, err := admin.Children(ctx, base+"/keys", nil)
	for _, folder := range folders {
		path := base + "/keys/" + folder.Name
		names, failed := admin.Children(ctx, path, nil)
		if failed != nil {
			return failed
		}
		for _, child := range names {
			data, stat, failed := admin.Get(ctx, path+"/"+child.Name, nil)
			if failed != nil {
				return failed
			}
			key(child.Name, data, stat)
		}
	}
	return err
}

// TestMixTransactions checks that each transaction is one request on the wire, that it sets as many nodes as it was
// told, each once, and that a conditional one reads all of them before each attempt.
func TestMixTransactions(t *testing.T) {
	for _, m := range []workloads.MixSettings{
		{Txns: 1, TxnOps: 5, Keys: 50},
		{Txns: 1, TxnOps: 7, Keys: 7}, // each transaction sets all of them
		{Txns: 1, TxnOps: 4, Keys: 10, Conditional: true},
		{Txns: 1, TxnOps: 3, Keys: 20, InFlight: 4},
	} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			var sets, fewest int64 = 0, math.MaxInt64
			r := inspect(t, runtest.MixPlan(s, m), func(ctx context.Context, admin drivers.Conn, base string) error {
				return keysOf(ctx, admin, base, func(_ string, _ []byte, s drivers.Stat) {
					sets, fewest = sets+int64(s.Version), min(fewest, int64(s.Version))
				})
			})
			done := r.Whole.Writes - r.Whole.FailedWrites
			if done != r.WholeRounds || sets != int64(m.TxnOps)*done || m.TxnOps == m.Keys && fewest != done {
				t.Errorf("%+v: %d sets in %d transactions on the wire, %d rounds", m, sets, done, r.WholeRounds)
			}
			if m.Conditional && r.Whole.Reads != int64(m.TxnOps)*r.Whole.Writes || !m.Conditional && r.Whole.Reads != 0 {
				t.Errorf("%+v: %d reads for %d attempts", m, r.Whole.Reads, r.Whole.Writes)
			}
			if r.Mix.Transactions != r.Rounds || r.Mix.Writes != r.Rounds || r.Rounds < 1000 || r.Mix.Retries != 0 {
				t.Errorf("%+v: %+v in %d rounds", m, *r.Mix, r.Rounds)
			}
			if (r.Mix.Refused > 0) != m.Conditional || r.Mix.Refused > r.Whole.FailedWrites {
				t.Errorf("%+v: %d refused, %d writes failed on the wire", m, r.Mix.Refused, r.Whole.FailedWrites)
			}
			if r.Safety.Violations > 0 || r.Safety.Checked < int64(m.TxnOps)*done {
				t.Errorf("%+v: %+v", m, r.Safety)
			}
		})
	}
}

// TestMixTransactionsNotifyWatchers checks that a transaction notifies each watcher of each node that it sets, and
// that all these notifications are assigned to one write.
func TestMixTransactionsNotifyWatchers(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Txns: 1, TxnOps: 10, Keys: 10, Watchers: 3})
		p.Clients = 1 // so that watchers have read again before the next change
		r := runtest.Measure(t, p)
		if r.Rounds != 300 || r.Counts.Notifications != 9000 || r.Counts.Reads != 9000 || r.Herd.Largest != 3 || r.Herd.Triggers != 300 || r.Safety.Violations > 0 {
			t.Errorf("%d transactions, %d notifications and %d reads, fan-out %d, %+v; want 300 that set ten nodes, which 3 watch",
				r.Rounds, r.Counts.Notifications, r.Counts.Reads, r.Herd.Largest, r.Safety)
		}
	})
}

// TestMixListsLargeNodes checks that each list returns as many names as it was told, of the length that they were
// told to have: by what the replies take on the wire.
func TestMixListsLargeNodes(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		const names, length = 400, 60
		lengths := map[int]int{}
		r := inspect(t, runtest.MixPlan(s, workloads.MixSettings{Reads: 1, Lists: 1, Keys: 3 * names, ListSize: names, NameLength: length}),
			func(ctx context.Context, admin drivers.Conn, base string) error {
				return keysOf(ctx, admin, base, func(name string, _ []byte, _ drivers.Stat) { lengths[len(name)]++ })
			})
		if len(lengths) != 1 || lengths[length] != 3*names {
			t.Errorf("lengths of names %v", lengths)
		}
		const reply = 4 + 16 + 4 + names*(4+length) // the lengths, the header, and the names
		if least := int64(reply) * r.Counts.Reads; r.Rounds != 1500 || r.Counts.Reads != 1500 || r.Counts.BytesIn < least || r.Counts.BytesIn > least*11/10 {
			t.Errorf("%d lists took %d bytes, want %d each", r.Counts.Reads, r.Counts.BytesIn, reply)
		}
		if r.Safety.Violations > 0 || r.Safety.Checked < r.Rounds {
			t.Errorf("%+v", r.Safety)
		}
	})
}

// TestMixSizes checks the sizes of the values that a run has written: first those of its setup, then those of sets,
// creates and transactions.
func TestMixSizes(t *testing.T) {
	for _, m := range []workloads.MixSettings{
		{Reads: 1, Keys: 1000},
		{Keys: 50},
		{Keys: 50, Txns: 1, TxnOps: 5},
		{Keys: 1, Creates: 1, Grow: true, NameLength: 30},
	} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			m.Size, m.SizeBy = 200, "100=1,200=3"
			sizes, all := map[int]float64{}, 0.
			inspect(t, runtest.MixPlan(s, m), func(ctx context.Context, admin drivers.Conn, base string) error {
				if m.Grow {
					names, err := admin.Children(ctx, base+"/own", nil)
					for _, child := range names {
						data, _, failed := admin.Get(ctx, base+"/own/"+child.Name, nil)
						if failed != nil {
							return failed
						}
						if sizes[len(data)]++; len(child.Name) != m.NameLength {
							t.Errorf("a fresh node has the name %q", child.Name)
						}
					}
					return err
				}
				return keysOf(ctx, admin, base, func(_ string, data []byte, _ drivers.Stat) { sizes[len(data)]++ })
			})
			for _, n := range sizes {
				all += n
			}
			if large := sizes[200] / all; len(sizes) != 2 || sizes[100] == 0 || large < 0.55 || large > 0.95 {
				t.Errorf("%+v: %v values by size, want three of 200 B to one of 100 B", m, sizes)
			}
		})
	}
}
