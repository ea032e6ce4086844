package openloop

import (
	"math"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]string{
		"500": "500", "0.5": "0.5", "1000/s": "1000", "100..1000": "100..1000", "100,200,400": "100,200,400",
	} {
		r, err := ParseRate(text)
		if err != nil || r.String() != want || !r.Open() {
			t.Errorf("%s: %s, %v; want %s", text, r, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "x", "NaN", "Inf", "1..", "1..2..3", "1,,2", "1e10"} {
		if r, err := ParseRate(text); err == nil {
			t.Errorf("%q is the rate %s, want an error", text, r)
		}
	}
}

// TestWhenIsTheInverseOfExpected checks that Expected(When(n)) is n for every shape, before,
// in and after the window.
func TestWhenIsTheInverseOfExpected(t *testing.T) {
	const total = 10 * time.Second
	for text, all := range map[string]float64{
		"100": 1000, "100..300": 2000, "300..100": 2000, "100..100.0000001": 1000, "100,200,600": 3000,
	} {
		r, err := ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Expected(total, total); math.Abs(got-all) > 1e-3 {
			t.Errorf("%s: %v expected in all, want %v", text, got, all)
		}
		if got := r.Mean() * total.Seconds(); math.Abs(got-all) > 1e-3 {
			t.Errorf("%s: %v a second on average, want %v", text, r.Mean(), all/10)
		}
		for n := -200.0; n < all+200; n += 3.7 {
			if got := r.Expected(r.When(n, total), total); math.Abs(got-n) > 1e-5 {
				t.Errorf("%s: %v are expected when %v should be", text, got, n)
			}
		}
	}
}
