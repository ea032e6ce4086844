package metrics

import "time"

// A Burst finds the busiest second and the busiest tenth of a second of what clients do after an event, such as
// the connections that they open after a fault. Both begin at a multiple of a tenth of a second since From.
type Burst struct {
	From                 time.Time
	Total, Second, Tenth int64 // of all, of the busiest second, and of the busiest tenth

	now  int64     // the current tenth
	last [10]int64 // the tenths of the current second
}

// Add adds what was done n times at a time, which is not before that of the last call.
func (b *Burst) Add(at time.Time, n int64) {
	now := max(int64(at.Sub(b.From)/(time.Second/10)), b.now)
	for range min(now-b.now, int64(len(b.last))) {
		b.now++
		b.last[b.now%10] = 0
	}
	if now > b.now { // all were cleared
		b.now = now
		b.last = [10]int64{}
	}
	b.last[now%10] += n
	b.Total += n
	b.Tenth = max(b.Tenth, b.last[now%10])
	var sum int64
	for _, of := range b.last {
		sum += of
	}
	b.Second = max(b.Second, sum)
}
