package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Tenths formats a share with one decimal: "5.0 %".
func Tenths(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// Limit formats a share that is a limit, with one decimal or as many as it has: "5.0 %", "0.05 %".
func Limit(share float64) string {
	text := strconv.FormatFloat(math.Round(1e8*share)/1e6, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text + " %"
}

// Clients formats a number of clients: "1 client", "128 clients".
func Clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return Count(int64(n)) + " clients"
}

func Times(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Count(n) + " times"
}

// Rounded rounds a number for prose: to an integer from 10 up, to one decimal below.
func Rounded(v float64) float64 {
	if v >= 10 {
		return math.Round(v)
	}
	return math.Round(10*v) / 10
}

// Short formats a number for prose: "99", "3.4", "1".
func Short(v float64) string {
	if v = Rounded(v); v == math.Trunc(v) {
		return Count(int64(v))
	}
	return fmt.Sprintf("%.1f", v)
}

// Share formats a fraction of 1: "91 %".
func Share(v float64) string { return Percent(int64(1e6*v), 1e6) }

// Chosen formats a share that the user chose, as short as possible: "33.3 %".
func Chosen(share float64) string {
	return strconv.FormatFloat(math.Round(1e4*share)/100, 'f', -1, 64) + " %"
}

// Plural formats a number with its noun: "1 run", "2 runs".
func Plural[N int | float64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%v %ss", n, noun)
}

// thin separates groups of three digits: a narrow no-break space.
const thin = "\u202f"

// Absent replaces a value that is not known.
const Absent = "n/a"

// Infinite replaces a time of work that was never done.
const Infinite = "infinite"

// Numbers lists the numbers, separated by commas.
func Numbers(all []int) string {
	words := make([]string, len(all))
	for i, n := range all {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

// Count formats an integer: "4 350".
func Count(n int64) string { return Group(strconv.FormatInt(n, 10)) }

// CountOf formats a whole number of things: "1 request", "2 140 requests".
func CountOf(n int64, noun string) string {
	if n == 1 {
		return Plural(1, noun)
	}
	return Count(n) + " " + noun + "s"
}

// usual is the number of significant digits, where more are not needed to tell two values apart.
const usual = 3

// Rate formats a number with three significant digits: "0.998", "99.1", "2 140".
func Rate(v float64) string { return rounded(v, usual) }

// rounded formats a number with the given number of significant digits.
func rounded(v float64, digits int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return plain(v)
	}
	// Rounding may carry into one more digit: 9.996 is "10.0", not "10.00".
	power := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-float64(digits-1))
	v = math.Round(v/power) * power
	decimals := digits - 1 - int(math.Floor(math.Log10(math.Abs(v))+1e-9))
	return Group(strconv.FormatFloat(v, 'f', max(decimals, 0), 64))
}

func plain(v float64) string {
	if v == 0 {
		return "0"
	}
	return Absent
}

// Bytes formats a size with three significant digits: "41.2 KiB".
func Bytes(n int64) string { return bytes(float64(n), usual) }

func bytes(size float64, digits int) string {
	if size < 1<<10 {
		return number(size, digits) + " B"
	}
	for _, name := range []string{"KiB", "MiB"} {
		if size /= 1 << 10; size < 1<<10 {
			return rounded(size, digits) + " " + name
		}
	}
	return rounded(size/(1<<10), digits) + " GiB"
}

// number formats an integer with all of its digits.
func number(v float64, digits int) string {
	if v == math.Trunc(v) {
		return Count(int64(v))
	}
	return rounded(v, digits)
}

// Duration formats a duration with three significant digits: "64.0 µs".
func Duration(d time.Duration) string { return unitFor(d).Measure(d) }

// Age formats how long something has lasted, to the second: it may be hours.
func Age(d time.Duration) string { return d.Round(time.Second).String() }

// Value formats a value with the unit that gates and changes use, with three significant digits:
// "1.25 ms", "870 /s", "99.0 %"; costs per round have no unit: "3.00".
func Value(v float64, unit string) string { return value(v, unit, usual) }

func value(v float64, unit string, digits int) string {
	if math.IsNaN(v) {
		return Absent
	}
	if math.IsInf(v, 1) {
		return Infinite
	}
	switch unit {
	case "ns":
		u := unitFor(time.Duration(v))
		return rounded(v/float64(u.size), digits) + " " + u.name
	case "B":
		return bytes(v, digits)
	case "/s":
		return rounded(v, digits) + " /s"
	case "share":
		return rounded(100*v, digits) + " %"
	case "":
		return number(v, digits)
	}
	return rounded(v, digits)
}

// mostDigits is the number of significant digits that every float64 has.
const mostDigits = 15

// Apart formats two values as Value does, each with as many digits as show that one differs from the other:
// "5.0004 ms" and "5.0000 ms".
func Apart(a, b float64, unit string) (string, string) {
	digits := usual
	for digits < mostDigits && a != b && (scientific(a, digits) == scientific(b, digits) || value(a, unit, digits) == value(b, unit, digits)) {
		digits++
	}
	return value(a, unit, digits), value(b, unit, digits)
}

func scientific(v float64, digits int) string { return strconv.FormatFloat(v, 'e', digits-1, 64) }

// Setting formats a duration that the user chose, as short as possible: "1 ms".
func Setting(d time.Duration) string {
	u := unitFor(d)
	return Group(strconv.FormatFloat(float64(d)/float64(u.size), 'f', -1, 64)) + " " + u.name
}

// Elapsed formats how much of a chosen duration has passed: "3.2 s of 5 s".
func Elapsed(d, of time.Duration) string {
	return fmt.Sprintf("%.1f s of %s", d.Truncate(100*time.Millisecond).Seconds(), Setting(of.Round(10*time.Millisecond)))
}

// Left formats an estimate of the time that is left: "about 40 s left", "about 12 min left". It returns ""
// for less than half a second.
func Left(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d.Round(u.size) / u.size; n >= 2 || n == 1 && u.size == time.Second {
			return fmt.Sprintf("about %d %s left", n, u.name)
		}
	}
	return ""
}

// A Unit is a unit of durations.
type Unit struct {
	size time.Duration
	name string
}

// units returns the units of durations, the smallest first.
func units() []Unit {
	return []Unit{{time.Nanosecond, "ns"}, {time.Microsecond, "µs"}, {time.Millisecond, "ms"}, {time.Second, "s"}}
}

// unitFor returns the largest unit that is not longer than d, rounded to the usual digits; seconds for 0.
func unitFor(d time.Duration) Unit {
	all := units()
	best := all[0]
	for _, u := range all {
		if d.Abs() >= u.size-u.size/2000 {
			best = u
		}
	}
	if d == 0 {
		return all[len(all)-1]
	}
	return best
}

func (u Unit) Measure(d time.Duration) string {
	return Rate(float64(d)/float64(u.size)) + " " + u.name
}

// Common returns a common unit for the durations of a column: the first one, from the unit of the
// smallest duration on, in which the largest has at most three digits. It returns false if the
// durations are too far apart, so that the smallest would be lost behind zeros.
func Common(column []time.Duration) (Unit, bool) {
	var smallest, largest time.Duration
	for _, d := range column {
		if d > 0 && (smallest == 0 || d < smallest) {
			smallest = d
		}
		largest = max(largest, d)
	}
	u := unitFor(smallest)
	for _, v := range units() {
		if v.size >= u.size && largest < 1_000*v.size-v.size/2 {
			return v, 10*smallest >= v.size
		}
	}
	return u, false
}

// Percent formats a share without decimals: "99 %".
func Percent(part, whole int64) string {
	if whole == 0 {
		return Absent
	}
	return strconv.FormatInt(int64(math.Round(100*float64(part)/float64(whole))), 10) + " %"
}

// Group separates the digits before the point in threes with thin spaces, and replaces the hyphen of
// a negative number with a minus sign.
func Group(number string) string {
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
