package results

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// thin groups digits by three: a narrow no-break space.
const thin = "\u202f"

// absent is shown in place of what is not known.
const absent = "n/a"

// Count writes an exact number: "4 350".
func Count(n int64) string { return group(strconv.FormatInt(n, 10)) }

// Rate writes a number with three significant digits: "0.998", "99.1", "2 140".
func Rate(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return plain(v)
	}
	// Rounding may carry into one more digit: 9.996 is "10.0", not "10.00".
	power := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	v = math.Round(v/power) * power
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))+1e-9))
	return group(strconv.FormatFloat(v, 'f', max(decimals, 0), 64))
}

func plain(v float64) string {
	if v == 0 {
		return "0"
	}
	return absent
}

// Bytes writes a size with three significant digits: "41.2 KiB".
func Bytes(n int64) string {
	if n < 1<<10 {
		return Count(n) + " B"
	}
	size := float64(n)
	for _, name := range []string{"KiB", "MiB"} {
		if size /= 1 << 10; size < 1<<10 {
			return Rate(size) + " " + name
		}
	}
	return Rate(size/(1<<10)) + " GiB"
}

// Duration writes a duration with three significant digits: "64.0 µs".
func Duration(d time.Duration) string { return unitFor(d).measure(d) }

// Value writes a value of a unit as gates and changes have it, with three
// significant digits: "1.25 ms", "870 /s", "99.0 %", and of costs of a round "3.00".
func Value(v float64, unit string) string {
	switch unit {
	case "ns":
		return Duration(time.Duration(v))
	case "B":
		return Bytes(int64(v))
	case "/s":
		return Rate(v) + " /s"
	case "share":
		return Rate(100*v) + " %"
	case "":
		if v == math.Trunc(v) {
			return Count(int64(v))
		}
	}
	return Rate(v)
}

// setting writes a duration that somebody chose, as short as it can be: "1 ms".
func setting(d time.Duration) string {
	u := unitFor(d)
	return group(strconv.FormatFloat(float64(d)/float64(u.size), 'f', -1, 64)) + " " + u.name
}

// A unit is what durations are measured in.
type unit struct {
	size time.Duration
	name string
}

// units are the units of durations, the smallest first.
func units() []unit {
	return []unit{{time.Nanosecond, "ns"}, {time.Microsecond, "µs"}, {time.Millisecond, "ms"}, {time.Second, "s"}}
}

// unitFor is the largest unit of which d is at least one.
func unitFor(d time.Duration) unit {
	all := units()
	best := all[0]
	for _, u := range all {
		if d.Abs() >= u.size {
			best = u
		}
	}
	if d == 0 {
		return all[len(all)-1]
	}
	return best
}

func (u unit) measure(d time.Duration) string {
	return Rate(float64(d)/float64(u.size)) + " " + u.name
}

// unitOf is one unit for all durations of a column, false if they are too far
// apart for that: the first in which the largest has up to four digits, as long
// as the smallest is not lost behind zeros.
func unitOf(column []time.Duration) (unit, bool) {
	var smallest, largest time.Duration
	for _, d := range column {
		if d > 0 && (smallest == 0 || d < smallest) {
			smallest = d
		}
		largest = max(largest, d)
	}
	u := unitFor(smallest)
	for _, v := range units() {
		if v.size >= u.size && largest < 10_000*v.size {
			return v, 100*smallest >= v.size
		}
	}
	return u, false
}

// percent writes a share without decimals: "99 %".
func percent(part, whole int64) string {
	if whole == 0 {
		return absent
	}
	return strconv.FormatInt(int64(math.Round(100*float64(part)/float64(whole))), 10) + " %"
}

// group sets thin spaces between every three digits before the point, and a
// minus sign for a hyphen.
func group(number string) string {
	number, negative := strings.CutPrefix(number, "-")
	whole, fraction, _ := strings.Cut(number, ".")
	var b strings.Builder
	if negative {
		b.WriteString("−")
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(thin)
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}
