package cluster_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A ledger has the writes that clients attempted: each creates a sequential node whose name begins
// with a prefix of its own.
type ledger struct {
	mu       sync.Mutex
	answered map[string]string // by prefix: the name of the node
	open     map[string]bool   // prefixes whose write may have happened or not
}

func newLedger() *ledger { return &ledger{answered: map[string]string{}, open: map[string]bool{}} }

// answer records a write that was acknowledged.
func (l *ledger) answer(prefix, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answered[prefix] = name
}

// leave records a write whose answer was lost.
func (l *ledger) leave(prefix string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[prefix] = true
}

// faults compares the ledger with the nodes that there are. Every acknowledged write has its node,
// every other one has at most one, and there are no others.
func (l *ledger) faults(nodes []string) (faults []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	made := map[string][]string{}
	for _, n := range nodes {
		prefix := n[:strings.LastIndexByte(n, '-')+1]
		made[prefix] = append(made[prefix], n)
	}
	for prefix, name := range l.answered {
		if got := made[prefix]; len(got) != 1 || got[0] != name {
			faults = append(faults, fmt.Sprintf("%s was acknowledged, and there is %v", name, got))
		}
		delete(made, prefix)
	}
	for prefix, got := range made {
		if !l.open[prefix] || len(got) > 1 {
			faults = append(faults, fmt.Sprintf("%v is there, and was not acknowledged (attempted: %t)", got, l.open[prefix]))
		}
	}
	return faults
}

func TestLedgerFindsFaults(t *testing.T) {
	l := newLedger()
	l.answer("1-1-", "1-1-0000000001")
	l.answer("1-2-", "1-2-0000000002")
	l.leave("2-1-")
	l.leave("2-2-")
	good := []string{"1-1-0000000001", "1-2-0000000002", "2-2-0000000003"}
	if faults := l.faults(good); len(faults) > 0 {
		t.Errorf("%v, want none", faults)
	}
	for what, nodes := range map[string][]string{
		"lost":      good[1:],
		"twice":     append([]string{"1-1-0000000009"}, good...),
		"twice too": append([]string{"2-2-0000000009"}, good...),
		"another":   append([]string{"3-1-0000000009"}, good...),
		"renamed":   {"1-1-0000000004", "1-2-0000000002"},
	} {
		if faults := l.faults(nodes); len(faults) != 1 {
			t.Errorf("%s: %v, want one fault", what, faults)
		}
	}
}
