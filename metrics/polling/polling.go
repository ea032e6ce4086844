// Package polling tells a client that polls from one that reads: it remembers the latest reads that armed no
// watch, and says which of them the client repeats though it was told nothing and wrote nothing meanwhile. A client
// can also poll by writing, in rounds.
package polling

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// most is how many reads of a client are remembered.
const most = 32

// Reads are the latest reads of one client that armed no watch. The zero value has none.
type Reads struct{ latest map[key]read }

type key struct {
	path string
	op   drivers.Op
}

type read struct {
	digest uint64
	done   Done
	at     time.Time
}

// Done is how often the client has been notified, and has written, until a read.
type Done struct{ Notified, Written int64 }

// A Repeat is what a read has in common with the one before it.
type Repeat struct {
	Polls     bool          // the client read the same before, and was not notified and wrote nothing meanwhile
	Unchanged bool          // it also got the same answer
	After     time.Duration // since the read before
}

// Add adds a read and compares it with the latest one of the same node by the same operation. The digest is that
// of the answer, 0 if it is not known.
func (r *Reads) Add(at time.Time, path string, op drivers.Op, digest uint64, done Done) (repeat Repeat) {
	k := key{path, op}
	last, known := r.latest[k]
	if known && last.done == done {
		repeat = Repeat{Polls: true, Unchanged: digest != 0 && last.digest == digest, After: at.Sub(last.at)}
	}
	if r.latest == nil || !known && len(r.latest) >= most {
		r.latest = map[key]read{}
	}
	r.latest[k] = read{digest, done, at}
	return repeat
}
