package observe

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Gap reports bytes that were not decoded, and why.
func (t *tap) Gap(at time.Time, bytes int64, cause traffic.Cause) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	if t.s != nil {
		t.s.stopAudit()
	}
	t.missed(traffic.Undecoded{Cause: cause, Bytes: bytes})
}

// Members reports that the client has learned addresses that are not observed. It may use them: what it
// would do there is missing, however little it is.
func (t *tap) Members(at time.Time, addresses []string) {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.setTime(at)
	t.missed(traffic.Undecoded{Cause: traffic.Bypass, Names: addresses})
}

// missed adds to what was not decoded. The connection counts once for each cause.
func (t *tap) missed(u traffic.Undecoded) {
	if !slices.Contains(t.causes, u.Cause) {
		t.causes = append(t.causes, u.Cause)
		u.Connections = 1
	}
	t.a.all.coverage.Add(u)
}

// Missed reports traffic that was not decoded and that no tap reports.
func (a *Analysis) Missed(u traffic.Undecoded) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all.coverage.Add(u)
}

// Missing returns what was not decoded although it could change a count. It is empty if everything that
// counts was decoded: what is harmless is left out.
func (t Traffic) Missing() []traffic.Undecoded {
	harmless := func(u traffic.Undecoded) bool { return u.Cause.Harmless() }
	return slices.DeleteFunc(slices.Clone(t.Undecoded), harmless)
}

// MissingBytes returns the sum of the bytes of [Traffic.Missing].
func (t Traffic) MissingBytes() (sum int64) {
	for _, u := range t.Missing() {
		sum += u.Bytes
	}
	return sum
}
