package results

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// thin separates groups of three digits: a narrow no-break space.
const thin = "\u202f"

// absent replaces a value that is not known.
const absent = "n/a"

// Count formats an integer: "4 350".
func Count(n int64) string { return group(strconv.FormatInt(n, 10)) }

// Rate formats a number with three significant digits: "0.998", "99.1", "2 140".
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

// Bytes formats a size with three significant digits: "41.2 KiB".
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

// Duration formats a duration with three significant digits: "64.0 µs".
func Duration(d time.Duration) string { return unitFor(d).measure(d) }

// Value formats a value with the unit that gates and changes use, with three significant digits:
// "1.25 ms", "870 /s", "99.0 %"; costs per round have no unit: "3.00".
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

// setting formats a duration that the user chose, as short as possible: "1 ms".
func setting(d time.Duration) string {
	u := unitFor(d)
	return group(strconv.FormatFloat(float64(d)/float64(u.size), 'f', -1, 64)) + " " + u.name
}

// A unit is a unit of durations.
type unit struct {
	size time.Duration
	name string
}

// units returns the units of durations, the smallest first.
func units() []unit {
	return []unit{{time.Nanosecond, "ns"}, {time.Microsecond, "µs"}, {time.Millisecond, "ms"}, {time.Second, "s"}}
}

// unitFor returns the largest unit that is not longer than d; seconds for 0.
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

// unitOf returns a common unit for the durations of a column: the first one, from the unit of the
// smallest duration on, in which the largest has at most four digits. It returns false if the
// durations are too far apart, so that the smallest would be lost behind zeros.
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

// percent formats a share without decimals: "99 %".
func percent(part, whole int64) string {
	if whole == 0 {
		return absent
	}
	return strconv.FormatInt(int64(math.Round(100*float64(part)/float64(whole))), 10) + " %"
}

// group separates the digits before the point in threes with thin spaces, and replaces the hyphen of
// a negative number with a minus sign.
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
