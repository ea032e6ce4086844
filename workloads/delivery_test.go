package workloads

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A route is a script of deliveries by client 1 to clients 2 and 3.
type route struct {
	t     *testing.T
	check *delivery
	two   taker
	three taker
}

func newRoute(t *testing.T) *route {
	return &route{t: t, check: newDelivery(), two: taker{client: 1}, three: taker{client: 2}}
}

// put adds an item of a priority.
func (r *route) put(priority int) *parcel {
	p := r.begin(priority)
	r.check.sentOff(p, nil)
	return p
}

func (r *route) begin(priority int) *parcel {
	return r.check.send(parcel{priority: priority}, 0, time.Time{})
}

// take lets a client take an item immediately.
func (r *route) take(by *taker, p *parcel) *parcel {
	return r.check.taken(r.check.take(by), p.bytes())
}

func (r *route) want(details ...string) {
	r.t.Helper()
	v := r.check.verdict(true)
	for i := range details {
		details[i] = "violation: " + details[i]
	}
	got, want := strings.Join(v.Details, "; "), strings.Join(details, "; ")
	if got != want || v.Violations != int64(len(details)) {
		r.t.Errorf("%d violations: %q, want %d: %q", v.Violations, got, len(details), want)
	}
}

func TestItemsInOrderAreDelivered(t *testing.T) {
	r := newRoute(t)
	a, b, c := r.put(0), r.put(0), r.put(0)
	r.take(&r.two, a)
	r.take(&r.three, b)
	r.take(&r.two, c)
	r.want()
	if v := r.check.verdict(true); v.Checked != 3 {
		t.Errorf("%d takes were checked, want 3", v.Checked)
	}
}

// TestConsumersMayOvertakeEachOther checks that a slow consumer may return an item after another
// consumer has returned a later one.
func TestConsumersMayOvertakeEachOther(t *testing.T) {
	r := newRoute(t)
	a, b := r.put(0), r.put(0)
	slow := r.check.take(&r.two)
	r.take(&r.three, b)
	r.check.taken(slow, a.bytes())
	r.want()
}

func TestAnItemTakenTwiceIsAViolation(t *testing.T) {
	r := newRoute(t)
	a := r.put(0)
	r.take(&r.two, a)
	if p := r.take(&r.three, a); p != nil {
		t.Errorf("the second take is told of item %d", p.number)
	}
	r.want("client 3 took item 1, which had been taken before")
}

func TestAnItemThatNobodyPutIsAViolation(t *testing.T) {
	r := newRoute(t)
	r.check.taken(r.check.take(&r.two), []byte("7"))
	r.check.taken(r.check.take(&r.two), nil)
	r.want(`client 2 took "7", which nobody had put`, `client 2 took "", which nobody had put`)
}

func TestALostItemIsAViolationOnceAllHaveEnded(t *testing.T) {
	r := newRoute(t)
	r.put(0)
	r.begin(0) // its put never returned
	if v := r.check.verdict(false); v.Violations != 0 {
		t.Errorf("an item that is still in the queue counts as lost: %q", v.Details)
	}
	r = newRoute(t)
	r.put(0)
	r.begin(0)
	r.want("item 1 of client 1 was never taken")
}

func TestTheWrongOrderIsAViolation(t *testing.T) {
	r := newRoute(t)
	a, b := r.put(0), r.put(0)
	r.take(&r.two, b)
	r.take(&r.two, a)
	r.want("client 2 took item 1 after item 2, which was put later")
}

// TestItemsPutAtTheSameTimeHaveNoOrder checks that either of two items put at the same time may be
// taken first.
func TestItemsPutAtTheSameTimeHaveNoOrder(t *testing.T) {
	r := newRoute(t)
	a, b := r.begin(0), r.begin(0)
	r.check.sentOff(a, nil)
	r.check.sentOff(b, nil)
	r.take(&r.two, b)
	r.take(&r.two, a)
	r.want()
}

func TestPassingOverABetterItemIsAViolation(t *testing.T) {
	r := newRoute(t)
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
	r := newRoute(t)
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
	r := newRoute(t)
	first, second := r.put(5), r.put(5)
	better := r.put(2)
	r.take(&r.two, first)
	slow := r.check.take(&r.three)
	r.take(&r.two, second)
	r.check.taken(slow, better.bytes())
	r.want()
}

func TestDoubtExcuses(t *testing.T) {
	r := newRoute(t)
	room := make(chan struct{}, 3)
	inRoom := func() *parcel {
		room <- struct{}{}
		return r.check.send(parcel{room: room}, 0, time.Time{})
	}
	unsure, withered, halfTaken := inRoom(), inRoom(), inRoom()
	r.check.sentOff(unsure, drivers.ErrInDoubt)
	r.check.sentOff(halfTaken, nil)
	r.check.doubtful(halfTaken.bytes())
	r.check.sentOff(withered, nil)
	r.check.wither(0)
	if len(room) != 0 {
		t.Errorf("%d items take up room, want none of those in doubt", len(room))
	}
	r.take(&r.two, unsure)
	r.take(&r.two, halfTaken)
	r.want() // though no consumer took the withered item
}
