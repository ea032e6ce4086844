package stats

import (
	"math"
	"testing"
)

// A side with only zeros is infinitely far away in logarithms. Its precision is unknown, not
// NaN.
func TestPrecisionOfZerosIsUnknown(t *testing.T) {
	never := Estimate{Value: math.Inf(-1), Low: math.Inf(-1), High: math.Inf(-1), Confidence: 0.999}
	if p, known := PrecisionOf(never, never, 4, 0); known {
		t.Errorf("precision %+v, want none", p)
	}
	near := Estimate{Value: -0.1, Low: -0.2, High: 0.1, Confidence: 0.999}
	if _, known := PrecisionOf(near, near, 4, 0); !known {
		t.Error("no precision of finite estimates")
	}
}
