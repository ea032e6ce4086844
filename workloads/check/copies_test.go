package check

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestCopies checks the findings about the copies of two clients. Node a was set by change 1, which
// was repeated because its reply was lost; node c was created by change 2 and deleted by change 3;
// node b was never changed.
func TestCopies(t *testing.T) {
	type sight struct {
		client int
		name   string
		data   string // "" if it is gone
		stat   drivers.Stat
	}
	written := func(modified int64, version int32) drivers.Stat {
		return drivers.Stat{Created: 1, Modified: modified, Version: version}
	}
	seenBy := func(client int) []sight {
		return []sight{{client, "a", "0 a", written(1, 0)}, {client, "b", "0 b", written(1, 0)},
			{client, "a", "1 a", written(2, 1)}, {client, "a", "1 a", written(3, 2)},
			{client, "c", "2 c", written(4, 0)}, {client, "c", "", drivers.Stat{}}}
	}
	one, other := seenBy(0), seenBy(1)
	for _, c := range []struct {
		name string
		seen []sight
		want []string
	}{
		{"both see everything", slices.Concat(one, other), nil},
		{"one sees the end only", slices.Concat(one, []sight{other[1], other[3]}), nil},
		{"the same again", slices.Concat(one, other, one[3:4]), nil},
		{"a change is missed", slices.Concat(one, other[:2], other[4:]),
			[]string{"violation: client 2 has version 0 of a by change 0, and not version 2 by change 1"}},
		{"the version is not that of the tree", slices.Concat(one[:3], one[4:], other),
			[]string{"violation: client 1 has version 1 of a by change 1, and not version 2 by change 1"}},
		{"a deletion is missed", slices.Concat(one, other[:5]),
			[]string{"violation: client 2 has c, which was deleted"}},
		{"a node is missed", slices.Concat(one, other[2:]),
			[]string{"violation: client 2 has no b, which change 0 wrote"}},
		{"a stale read after a newer event", slices.Concat(one, other, one[:1], one[3:4]),
			[]string{"violation: client 1 saw change 0 of a after a later one"}},
		{"a stale read of an older version", slices.Concat(one, other, one[2:4]),
			[]string{"violation: client 1 saw version 1 of a after version 2"}},
		{"a stale read after a deletion", slices.Concat(one, other, one[4:]),
			[]string{"violation: client 1 saw change 2 of c after a later one"}},
		{"a change of another node", slices.Concat(one, other, []sight{{0, "b", "1 a", written(2, 1)}}),
			[]string{`violation: client 1 saw "1 a" at b, which was never written there`}},
		{"an unknown node", slices.Concat(one, other, []sight{{1, "d", "1 d", written(2, 1)}}),
			[]string{`violation: client 2 saw "1 d" at d, which was never written there`}},
		{"a change that is not made yet", slices.Concat(one, other, []sight{{1, "b", "4 b", written(9, 1)}}),
			[]string{"violation: client 2 has version 1 of b by change 4, and not version 0 by change 0",
				`violation: client 2 saw "4", which was never written`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			copies := NewCopies(2, []string{"a", "b"}, []string{"c"}, untimed(), func(string) {})
			copies.Begins("a", 1)
			copies.Made("a", &Node{Number: 1, Version: 2})
			copies.Begins("c", 2)
			copies.Made("c", &Node{Number: 2})
			copies.Begins("c", 3)
			copies.Made("c", nil)
			for _, s := range c.seen {
				copies.Saw(s.client, copies.clients[s.client], s.name, []byte(s.data), s.stat)
			}
			copies.CheckAll()
			verdict := copies.Verdict()
			if !slices.Equal(verdict.Details, c.want) || verdict.Violations != int64(len(c.want)) {
				t.Errorf("%d violations, %q; want %q", verdict.Violations, verdict.Details, c.want)
			}
			if want := int64(len(c.seen) + 2); verdict.Checked != want {
				t.Errorf("%d things were checked, want %d", verdict.Checked, want)
			}
		})
	}
}

// TestCopiesDuringAChange checks that the node that is being changed may be in either state, and no
// other, and that what one process tells another is what it knows itself.
func TestCopiesDuringAChange(t *testing.T) {
	var told []string
	copies := NewCopies(1, []string{"a", "b"}, nil, untimed(), func(change string) { told = append(told, change) })
	away := NewCopies(1, []string{"a", "b"}, nil, untimed(), func(string) {})
	own := copies.clients[0]
	for _, name := range []string{"a", "b"} {
		copies.Saw(0, own, name, NodeData(0, name), drivers.Stat{Modified: 1})
	}
	copies.Begins("a", 1)
	copies.Saw(0, own, "a", NodeData(1, "a"), drivers.Stat{Modified: 2, Version: 1})
	if _, err := copies.Await(t.Context(), own); err != nil {
		t.Errorf("during the change: %v", err)
	}
	copies.Made("a", &Node{Number: 1, Version: 1})
	copies.Begins("b", 2)
	copies.Made("b", nil)
	for _, change := range told {
		away.Learn(change)
	}
	for what, c := range map[string]*Copies{"this": copies, "another": away} {
		if wrong, want := c.wrong(own), "has b, which was deleted"; wrong != want {
			t.Errorf("%s process finds that the copy %q, want %q", what, wrong, want)
		}
	}
}
