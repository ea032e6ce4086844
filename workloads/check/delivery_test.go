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
	check *Delivery
	two   Consumer
	three Consumer
}

func newQueueScript(t *testing.T) *queueScript {
	return &queueScript{t: t, check: NewDelivery(), two: Consumer{Client: 1}, three: Consumer{Client: 2}}
}

// put adds an item of a priority.
func (r *queueScript) put(priority int) *Item {
	p := r.begin(priority)
	r.check.EndPut(p, nil)
	return p
}

func (r *queueScript) begin(priority int) *Item {
	return r.check.BeginPut(Item{Priority: priority}, 0, time.Time{})
}

// take lets a client take an item immediately.
func (r *queueScript) take(by *Consumer, p *Item) *Item {
	return r.check.EndTake(r.check.BeginTake(by), p.Bytes())
}

func (r *queueScript) want(details ...string) {
	r.t.Helper()
	v := r.check.Verdict(true)
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
	r.take(&r.two, a)
	r.take(&r.three, b)
	r.take(&r.two, c)
	r.want()
	if v := r.check.Verdict(true); v.Checked != 3 {
		t.Errorf("%d takes were checked, want 3", v.Checked)
	}
}

// TestConsumersMayOvertakeEachOther checks that a slow consumer may return an item after another
// consumer has returned a later one.
func TestConsumersMayOvertakeEachOther(t *testing.T) {
	r := newQueueScript(t)
	a, b := r.put(0), r.put(0)
	slow := r.check.BeginTake(&r.two)
	r.take(&r.three, b)
	r.check.EndTake(slow, a.Bytes())
	r.want()
}

func TestAnItemTakenTwiceIsAViolation(t *testing.T) {
	r := newQueueScript(t)
	a := r.put(0)
	r.take(&r.two, a)
	if p := r.take(&r.three, a); p != nil {
		t.Errorf("the second take is told of item %d", p.number)
	}
	r.want("client 3 took item 1, which a client took before")
}

func TestAnItemThatNoClientPutIsAViolation(t *testing.T) {
	r := newQueueScript(t)
	r.check.EndTake(r.check.BeginTake(&r.two), []byte("7"))
	r.check.EndTake(r.check.BeginTake(&r.two), nil)
	r.want(`client 2 took "7", which no client put`, `client 2 took "", which no client put`)
}

func TestALostItemIsAViolationOnceAllHaveEnded(t *testing.T) {
	r := newQueueScript(t)
	r.put(0)
	r.begin(0) // its put never returned
	if v := r.check.Verdict(false); v.Violations != 0 {
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
	r.take(&r.two, b)
	r.take(&r.two, a)
	r.want("client 2 took item 1 after item 2, which was put later")
}

// TestItemsPutAtTheSameTimeHaveNoOrder checks that either of two items put at the same time may be
// taken first.
func TestItemsPutAtTheSameTimeHaveNoOrder(t *testing.T) {
	r := newQueueScript(t)
	a, b := r.begin(0), r.begin(0)
	r.check.EndPut(a, nil)
	r.check.EndPut(b, nil)
	r.take(&r.two, b)
	r.take(&r.two, a)
	r.want()
}

func TestPassingOverABetterItemIsAViolation(t *testing.T) {
	r := newQueueScript(t)
	first, second := r.put(5), r.put(5)
	better := r.put(2)
	r.take(&r.two, first) // the check does not know how old its list was
	r.take(&r.two, second)
	r.take(&r.three, better)
	r.want("client 2 took an item of priority 5 while item 3 of priority 2 was there")
}

// TestABetterItemMayComeTooLate checks that a consumer may miss a better item that was added
// during its previous take, since its list may not show the item yet.
func TestABetterItemMayComeTooLate(t *testing.T) {
	r := newQueueScript(t)
	first, second := r.put(5), r.put(5)
	r.take(&r.two, first)
	better := r.put(2)
	r.take(&r.two, second)
	r.take(&r.three, better)
	r.want()
}

// TestABetterItemMayBeGone checks that a consumer may miss a better item that another consumer has
// begun to take.
func TestABetterItemMayBeGone(t *testing.T) {
	r := newQueueScript(t)
	first, second := r.put(5), r.put(5)
	better := r.put(2)
	r.take(&r.two, first)
	slow := r.check.BeginTake(&r.three)
	r.take(&r.two, second)
	r.check.EndTake(slow, better.Bytes())
	r.want()
}

func TestDoubtExcuses(t *testing.T) {
	r := newQueueScript(t)
	room := make(chan struct{}, 3)
	inRoom := func() *Item {
		room <- struct{}{}
		return r.check.BeginPut(Item{Free: func() { <-room }}, 0, time.Time{})
	}
	unsure, withered, halfTaken := inRoom(), inRoom(), inRoom()
	r.check.EndPut(unsure, drivers.ErrInDoubt)
	r.check.EndPut(halfTaken, nil)
	r.check.TakeInDoubt(Take{Consumer: &Consumer{}}, halfTaken.Bytes())
	r.check.EndPut(withered, nil)
	r.check.SessionLost(0)
	if len(room) != 0 {
		t.Errorf("%d items take up room, want none of those in doubt", len(room))
	}
	r.take(&r.two, unsure)
	r.take(&r.two, halfTaken)
	r.want() // though no consumer took the withered item
}
