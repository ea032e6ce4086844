package systems

import "fmt"

// A Library is what one change costs with N members if the library itself runs, as counted.
type Library struct {
	System  string // the name of the row
	Version string // "kazoo 2.8.0"
	Program string // the program that uses it: "kazoo", "Curator" or "Go"
	Recipe  string // as the program names it
	Etcd    bool   // the library's server is etcd, otherwise ZooKeeper
	// Others is the number of clients besides the N members, such as one that opens a barrier.
	Others int

	Notifications, Reads, Writes Linear
	Note                         string // why it differs from the row, "" if it does not
}

// A Linear is a count that grows with N.
type Linear struct{ Each, Fixed int }

// At returns the count with n members.
func (l Linear) At(n int) int { return l.Each*n + l.Fixed }

// String returns the formula, such as "2N" or "N+2".
func (l Linear) String() string {
	text := ""
	switch l.Each {
	case 0:
		return fmt.Sprint(l.Fixed)
	case 1:
		text = "N"
	default:
		text = fmt.Sprintf("%dN", l.Each)
	}
	if l.Fixed != 0 {
		text += fmt.Sprintf("%+d", l.Fixed)
	}
	return text
}

// Libraries returns the counts of the libraries themselves. Each is the difference between two runs: the
// second has one turn more for each member, or one opening more of a barrier.
func Libraries() []Library {
	const (
		kazoo    = "kazoo 2.8.0"
		curator  = "Curator 5.4.0"
		relisted = "a Lock that is used again lists once more before it creates its node, to find one that a failed try may have left; a new Lock reads the parent node instead"
		setAgain = "the row counts an opening alone; here the barrier is also set again, "
	)
	one := Linear{Fixed: 1}
	times := func(n int) Linear { return Linear{Fixed: n} }
	return []Library{
		{System: "kazoo-lock", Version: kazoo, Program: "kazoo", Recipe: "lock", Notifications: one, Reads: times(4), Writes: times(2), Note: relisted},
		{System: "kazoo-election", Version: kazoo, Program: "kazoo", Recipe: "election", Notifications: one, Reads: times(4), Writes: times(2), Note: "as kazoo-lock, which it uses"},
		{System: "kazoo-barrier", Version: kazoo, Program: "kazoo", Recipe: "barrier", Others: 1,
			Notifications: Linear{Each: 1}, Reads: Linear{1, 2}, Writes: times(2), Note: setAgain + "with two reads and a write; a client that is woken does not read again"},
		{System: "curator-lock", Version: curator, Program: "Curator", Recipe: "mutex", Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "curator-leader-latch", Version: curator, Program: "Curator", Recipe: "latch", Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "curator-barrier", Version: curator, Program: "Curator", Recipe: "barrier", Others: 1,
			Notifications: Linear{Each: 2}, Reads: Linear{Each: 2}, Writes: times(2), Note: setAgain + "with a write that notifies all N: the check of a client that is woken sets a watch, which is left when the client proceeds"},
		{System: "go-zookeeper-lock", Version: "go-zookeeper v1.0.4", Program: "Go", Recipe: "zookeeper-lock", Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "etcd-mutex", Version: "etcd client v3.7.3", Program: "Go", Recipe: "etcd-mutex", Etcd: true, Notifications: one, Reads: times(3), Writes: times(2)},
		{System: "etcd-election", Version: "etcd client v3.7.3", Program: "Go", Recipe: "etcd-election", Etcd: true, Notifications: one, Reads: times(2), Writes: times(2)},
	}
}
