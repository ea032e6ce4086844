package document_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// Every verdict in a table has its colour, and without the colours the text is the same as for a pipe.
func TestColoursOfTables(t *testing.T) {
	const red, green = "31", "32"
	violated := resulttest.Herding(resulttest.Native())[2:]
	violated[1].Safety.Violations = 3
	repeated := []results.Run{violated[0], violated[0], violated[1], violated[1]}
	for i := range repeated {
		repeated[i].Repetition = i%2 + 1
	}
	broken := resulttest.Herding(resulttest.Native())[2:3]
	broken[0].Cost.Expected = &results.Expected{Identities: []results.Identity{{Formula: "a = b", Left: 1, Right: 2}}}
	unchecked := resulttest.Herding(resulttest.Native())[2:3]
	unchecked[0].Safety = results.Safety{}
	differing, disagreeing, server := resulttest.OneNodeCount(8), resulttest.PredecessorCount(8), int64(99)
	differing.Reads.Counted++
	disagreeing.Reads.Server = &server
	for name, test := range map[string]struct {
		of   results.Result
		want [][2]string
	}{
		"a safety violation":       {resulttest.FileOf(violated...), [][2]string{{red, "FAIL: a form violated safety; the numbers are void."}, {green, "ok 4\u202f350"}, {red, "VIOLATED 3"}}},
		"a line below repetitions": {resulttest.FileOf(repeated...), [][2]string{{red, "FAIL: a form violated safety; the numbers are void."}, {green, "ok 8\u202f700"}, {red, "VIOLATED 6"}}},
		"a broken identity":        {resulttest.FileOf(broken...), [][2]string{{red, "REGRESSION: a count is not what holds under any schedule."}, {green, "ok 4\u202f350"}, {red, "IDENTITY BROKEN: predecessor, 128 clients: a = b gives 1 and 2"}}},
		"no check":                 {resulttest.FileOf(unchecked...), nil},
		"counts": {resulttest.CountOf(differing, disagreeing),
			[][2]string{{red, "DIFFERS"}, {red, "DISAGREES"}, {green, "equal"}, {red, "DISAGREES"}}},
	} {
		plain, coloured := textOf(t, test.of, render.Options{}), textOf(t, test.of, render.Options{Color: true})
		var got [][2]string
		for _, m := range regexp.MustCompile(`\x1b\[1;(\d+)m([^\x1b]*)\x1b\[0m`).FindAllStringSubmatch(coloured, -1) {
			got = append(got, [2]string{m[1], m[2]})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: the coloured words differ (−want +got):\n%s", name, diff)
		}
		text := regexp.MustCompile(`\x1b\[[\d;]+m`).ReplaceAllString(coloured, "")
		if diff := cmp.Diff(plain, text); diff != "" {
			t.Errorf("%s: the text differs with colours:\n%s", name, diff)
		}
	}
}
