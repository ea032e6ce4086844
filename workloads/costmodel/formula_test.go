package costmodel

import "testing"

func TestFormulasAreEvaluated(t *testing.T) {
	symbols := map[string]int64{"N": 5, "W": 3, "q": 2, "gets": 7, "missed gets": 4, "K": 6}
	for formula, want := range map[string]int64{
		"0": 0, "12": 12, "N−1": 4, "4N−2+N(N−1)/2": 28, "N²−N+1": 21, "WN−W(W+1)/2": 9, "N+q·N(N−1)/2": 25,
		"max(1, 4N−4)": 16, "min(1, N−1)": 1, "3+max(0, 2N−30)": 3, "max(N, min(1, W−1))": 5,
		"gets − missed gets + K": 9, "2(gets + K)": 26, "N + 2·gets": 19, "(N−1)(N+2)/2": 14, "2N²": 50, "7/2": 3,
	} {
		if got := evaluate(formula, symbols); got != want {
			t.Errorf("%s = %d, want %d", formula, got, want)
		}
	}
}

func TestMalformedFormulasPanic(t *testing.T) {
	for _, formula := range []string{"", "N+", "+N", "N·", "N/", "(N", "N)", "N⁴", "min(N)", "max(1; N)", "M", "N M", "1 = 1"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q has a value", formula)
				}
			}()
			evaluate(formula, map[string]int64{"N": 5})
		}()
	}
}
