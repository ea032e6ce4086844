package units

import (
	"math"
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.00", 0.998: "0.998", 0.0123: "0.0123", 99.1: "99.1", 101.1: "101",
		9.996: "10.0", 99.96: "100", 999.6: "1\u202f000", 2139.7: "2\u202f140", 1234567: "1\u202f230\u202f000",
		-41.27: "−41.3", math.NaN(): "n/a", math.Inf(1): "n/a",
	} {
		if got := Rate(v); got != want {
			t.Errorf("Rate(%v) is %q, not %q", v, got, want)
		}
	}
}

// Values that differ read differently; values that do not differ are as short as ever.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		unit string
		want [2]string
	}{
		{5_000_400, 5e6, "ns", [2]string{"5.0004 ms", "5.0000 ms"}},
		{999_999.6, 1e6, "ns", [2]string{"0.9999996 ms", "1.000000 ms"}},
		{61.2e6, 5e7, "ns", [2]string{"61.2 ms", "50.0 ms"}},
		{772. / 771, 1, "/round", [2]string{"1.001", "1.000"}},
		{299.9, 300, "/s", [2]string{"299.9 /s", "300.0 /s"}},
		{0.9996, 1, "share", [2]string{"99.96 %", "100.0 %"}},
		{0.99996, 1, "share", [2]string{"99.996 %", "100.00 %"}},
		{2048.5, 2048, "B", [2]string{"2.0005 KiB", "2.0000 KiB"}},
		{3.5, 3, "B", [2]string{"3.50 B", "3 B"}},
		{1.5, 1, "", [2]string{"1.50", "1"}},
		{1, 1, "/round", [2]string{"1.00", "1.00"}},
		{0, 1e-9, "share", [2]string{"0 %", "0.000000100 %"}},
	} {
		if a, b := Apart(c.a, c.b, c.unit); [2]string{a, b} != c.want {
			t.Errorf("%v and %v: %q and %q, not %q", c.a, c.b, a, b, c.want)
		}
	}
}

func TestLimit(t *testing.T) {
	for share, want := range map[float64]string{0.05: "5.0 %", 0.0005: "0.05 %", 0.025: "2.5 %", 1: "100.0 %", 1. / 3: "33.333333 %"} {
		if got := Limit(share); got != want {
			t.Errorf("Limit(%v) is %q, not %q", share, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 12: "12", 999: "999", 4350: "4\u202f350", -1234567: "−1\u202f234\u202f567"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) is %q, not %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1\u202f023 B", 1024: "1.00 KiB", 42_189: "41.2 KiB", 5 << 20: "5.00 MiB", 3 << 40: "3\u202f070 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) is %q, not %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 7: "7.00 ns", 64 * time.Microsecond: "64.0 µs", 1400 * time.Microsecond: "1.40 ms",
		149 * time.Millisecond: "149 ms", 2300 * time.Millisecond: "2.30 s", time.Hour: "3\u202f600 s",
		-64 * time.Microsecond: "−64.0 µs",
		// A value that rounds up to the next unit has that: no time has four digits.
		999_400 * time.Nanosecond: "999 µs", 999_500 * time.Nanosecond: "1.00 ms", 4120 * time.Microsecond: "4.12 ms",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) is %q, not %q", d, got, want)
		}
	}
}

func TestSetting(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", time.Millisecond: "1 ms", 1500 * time.Millisecond: "1.5 s", 250 * time.Microsecond: "250 µs",
	} {
		if got := Setting(d); got != want {
			t.Errorf("setting(%d) is %q, not %q", d, got, want)
		}
	}
}

// A column has one unit unless that would hide its smallest value.
func TestUnitOf(t *testing.T) {
	const µs, ms = time.Microsecond, time.Millisecond
	for _, c := range []struct {
		column []time.Duration
		want   string
		fits   bool
	}{
		{[]time.Duration{64 * µs, 999 * µs}, "µs", true},
		{[]time.Duration{64 * µs, 1000 * µs}, "ms", false},
		{[]time.Duration{155 * µs, 3100 * µs}, "ms", true},
		{[]time.Duration{300 * µs, 310 * ms}, "ms", true},
		{[]time.Duration{2300 * µs, 149 * ms}, "ms", true},
		{[]time.Duration{5 * µs, 2 * time.Second}, "s", false},
	} {
		u, fits := Common(c.column)
		if u.name != c.want || fits != c.fits {
			t.Errorf("%v: unit %q, fits %v; not %q, %v", c.column, u.name, fits, c.want, c.fits)
		}
	}
}

func TestElapsedAndLeft(t *testing.T) {
	for of, want := range map[time.Duration]string{5 * time.Second: "0.3 s of 5 s", 1052112676: "0.3 s of 1.05 s", 500 * time.Millisecond: "0.3 s of 500 ms"} {
		if got := Elapsed(300*time.Millisecond, of); got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Hour: "", 499 * time.Millisecond: "", time.Second: "about 1 s left", 89 * time.Second: "about 89 s left", 90 * time.Second: "about 2 min left",
		89 * time.Minute: "about 89 min left", 100 * time.Minute: "about 2 h left",
	} {
		if got := Left(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
