package check

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A queueScript is a script of deliveries by client 1 to clients 2 and 3.
type queueScript struct {
	t     *testing.T
	judge *DeliveryJudge
	items *Items
	began map[int]bool
}

// The clients that take.
const two, three = 1, 2

func newQueueScript(t *testing.T) *queueScript {
	r := &queueScript{t: t, judge: NewDeliveryJudge(), began: map[int]bool{}}
	steps := untimed()
	steps.JudgeBy(r.judge.Take)
	r.items = NewItems(steps)
	return r
}

// put adds an item of a priority.
func (r *queueScript) put(priority int) *Item {
	p := r.begin(priority)
	r.items.EndPut(p, nil)
	return p
}

func (r *queueScript) begin(priority int) *Item {
	return r.items.BeginPut(Item{Priority: priority}, 0, time.Time{})
}

// take lets a client take an item immediately.
func (r *queueScript) take(by int, p *Item) *Item {
	r.beginTake(by)
	return r.items.EndTake(by, p.Bytes())
}

func (r *queueScript) beginTake(by int) {
	r.items.BeginTake(by, !r.began[by])
	r.began[by] = true
}

func (r *queueScript) want(details ...string) {
	r.t.Helper()
	v := r.judge.Verdict(0)
	for i := range details {
		details[i] = "violation: " + details[i]
	}
	got, want := strings.Join(v.Details, "; "), strings.Join(details, "; ")
	if got != want || v.Violations != int64(len(details)) {
		r.t.Errorf("%d violations: %q, want %d: %q", v.Violations, got, len(details), want)
	}
}

func TestItemsInOrderAreDelivered(t *testing.T) {
	r := newQueueScript(t)
	a, b, c := r.put(0), r.put(0), r.put(0)
	r.take(two, a)
	r.take(three, b)
	r.take(two, c)
	r.want()
	if v := r.judge.Verdict(0); v.Checked != 3 {
		t.Errorf("%d takes were checked, want 3", v.Checked)
	}
}

// TestConsumersMayOvertakeEachOther checks that a slow consumer may return an item after another
// consumer has returned a later one.
func TestConsumersMayOvertakeEachOther(t *testing.T) {
	r := newQueueScript(t)
	a, b := r.put(0), r.put(0)
	r.beginTake(two)
	r.take(three, b)
	r.items.EndTake(two, a.Bytes())
	r.want()
}

func TestAnItemTakenTwiceIsAViolation(t *testing.T) {
	r := newQueueScript(t)
	a := r.put(0)
	r.take(two, a)
	if p := r.take(three, a); !p.Sent.IsZero() {
		t.Errorf("the second take is told when item %d was put", p.number)
	}
	r.want("client 3 took item 1, which a client took before")
}

func TestAnItemThatNoClientPutIsAViolation(t *testing.T) {
	r := newQueueScript(t)
	for _, item := range []string{"7", ""} {
		r.beginTake(two)
		r.items.EndTake(two, []byte(item))
	}
	r.want(`client 2 took "7", which no client put`, `client 2 took "", which no client put`)
}

func TestALostItemIsAViolationOnceAllHaveEnded(t *testing.T) {
	r := newQueueScript(t)
	r.put(0)
	r.begin(0) // its put never returned
	if v := r.judge.Verdict(1); v.Violations != 0 {
		t.Errorf("an item that is still in the queue counts as lost: %q", v.Details)
	}
	r = newQueueScript(t)
	r.put(0)
	r.begin(0)
	r.want("item 1 of client 1 was never taken")
}

func TestTheWrongOrderIsAViolation(t *testing.T) {
	r := newQueueScript(t)
	a, b := r.put(0), r.put(0)
	r.take(two, b)
	r.take(two, a)
	r.want("client 2 took item 1 after item 2, which was put later")
}

// TestItemsPutAtTheSameTimeHaveNoOrder checks that either of two items put at the same time may be
// taken first.
func TestItemsPutAtTheSameTimeHaveNoOrder(t *testing.T) {
	r := newQueueScript(t)
	a, b := r.begin(0), r.begin(0)
	r.items.EndPut(a, nil)
	r.items.EndPut(b, nil)
	r.take(two, b)
	r.take(two, a)
	r.want()
}

func TestPassingOverABetterItemIsAViolation(t *testing.T) {
	r := newQueueScript(t)
	first, second := r.put(5), r.put(5)
	better := r.put(2)
	r.take(two, first) // the check does not know how old its list was
	r.take(two, second)
	r.take(three, better)
	r.want("client 2 took an item of priority 5 while item 3 of priority 2 was there")
}

// TestABetterItemMayComeTooLate checks that a consumer may miss a better item that was added
// during its previous take, since its list may not show the item yet.
func TestABetterItemMayComeTooLate(t *testing.T) {
	r := newQueueScript(t)
	first, second := r.put(5), r.put(5)
	r.take(two, first)
	better := r.put(2)
	r.take(two, second)
	r.take(three, better)
	r.want()
}

// TestABetterItemMayBeGone checks that a consumer may miss a better item that another consumer has
// begun to take.
func TestABetterItemMayBeGone(t *testing.T) {
	r := newQueueScript(t)
	first, second := r.put(5), r.put(5)
	better := r.put(2)
	r.take(two, first)
	r.beginTake(three)
	r.take(two, second)
	r.items.EndTake(three, better.Bytes())
	r.want()
}

func TestDoubtExcuses(t *testing.T) {
	r := newQueueScript(t)
	room := make(chan struct{}, 3)
	inRoom := func() *Item {
		room <- struct{}{}
		return r.items.BeginPut(Item{Free: func() { <-room }}, 0, time.Time{})
	}
	unsure, withered, halfTaken := inRoom(), inRoom(), inRoom()
	r.items.EndPut(unsure, drivers.ErrInDoubt)
	r.items.EndPut(halfTaken, nil)
	r.beginTake(two)
	r.items.TakeInDoubt(two, halfTaken.Bytes())
	r.items.EndPut(withered, nil)
	r.items.SessionLost(0)
	if len(room) != 0 {
		t.Errorf("%d items take up room, want none of those in doubt", len(room))
	}
	r.take(two, unsure)
	r.take(two, halfTaken)
	r.want() // though no consumer took the withered item
}
