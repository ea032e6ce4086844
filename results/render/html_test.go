package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func kinds() map[string]results.Result {
	return map[string]results.Result{
		"lock": resulttest.Lock(), "divided": resulttest.Divided(), "gated": resulttest.Gated(), "sweep": resulttest.Sweep(), "scaling": resulttest.Scaling(),
		"reads": resulttest.Reads(), "count": resulttest.Count(), "comparison": resulttest.Comparison(), "observation": resulttest.Observation(), "nothing": results.File{},
	}
}

// once returns the kinds, computed at the first call: histograms take long under the race detector.
var once = sync.OnceValue(kinds)

// pageOf returns the text of the page and its elements.
func pageOf(t *testing.T, result results.Result) (text string, root *html.Node) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, result, Options{}); err != nil {
		t.Fatal(err)
	}
	text = b.String()
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return text, root
}

// find returns the elements with a name.
func find(root *html.Node, of atom.Atom) (all []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom == of {
			all = append(all, n)
		}
	}
	return all
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// words returns the text of an element, with single spaces.
func words(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestStructure(t *testing.T) {
	for kind, result := range once() {
		t.Run(kind, func(t *testing.T) {
			_, root := pageOf(t, result)
			for of, want := range map[atom.Atom]int{atom.H1: 1, atom.Main: 1, atom.Header: 1, atom.Footer: 1, atom.Script: 1} {
				if got := len(find(root, of)); got != want {
					t.Errorf("%d elements %v, want %d", got, of, want)
				}
			}
			for _, th := range find(root, atom.Th) {
				if attribute(th, "scope") == "" {
					t.Errorf("the heading %q is of nothing", words(th))
				}
			}
			for _, table := range find(root, atom.Table) {
				if len(find(table, atom.Caption)) == 0 && attribute(table.Parent, "aria-labelledby") == "" {
					t.Errorf("a table without a name: %.60s", words(table))
				}
			}
			checkColumns(t, root)
			for _, figure := range find(root, atom.Figure) {
				if len(find(figure, atom.Figcaption)) != 1 || len(find(figure, atom.Svg)) != 2 {
					t.Error("a figure without caption, or not with one chart for a wide screen and one for a phone")
				}
			}
			ids := map[string]bool{}
			for n := range root.Descendants() {
				id := attribute(n, "id")
				if ids[id] && id != "" {
					t.Errorf("two elements with the id %s", id)
				}
				ids[id] = true
			}
		})
	}
}

// checkColumns checks that each row of a table, including the headings, has all columns.
func checkColumns(t *testing.T, root *html.Node) {
	t.Helper()
	for _, table := range find(root, atom.Table) {
		widths := map[int]bool{}
		for _, row := range find(table, atom.Tr) {
			n := 0
			for cell := range row.ChildNodes() {
				span := 1
				fmt.Sscan(attribute(cell, "colspan"), &span) // 1 without the attribute
				if cell.Type == html.ElementNode {
					n += span
				}
			}
			widths[n] = true
		}
		if len(widths) != 1 {
			t.Errorf("rows of unlike widths: %v in %.60s", widths, words(table))
		}
	}
}

// Nothing in the file makes a browser request anything else or run a script. The only links lead to the
// documentation.
func TestNeedsNothingElse(t *testing.T) {
	for kind, result := range once() {
		_, root := pageOf(t, result)
		for n := range root.Descendants() {
			if n.DataAtom == atom.Script && attribute(n, "type") != "application/json" {
				t.Errorf("%s: a script", kind)
			}
			for _, a := range n.Attr {
				if n.DataAtom == atom.A && a.Key == "href" && strings.HasPrefix(a.Val, "https://github.com/stampede-bench/stampede/blob/main/docs/") {
					continue
				}
				if regexp.MustCompile(`^(src|href|action|data|poster|srcset|on\w+)$`).MatchString(a.Key) {
					t.Errorf("%s: %s=%q", kind, a.Key, a.Val)
				}
			}
			if n.DataAtom == atom.Style && regexp.MustCompile(`url\(|@import`).MatchString(n.FirstChild.Data) {
				t.Errorf("%s: the style refers to something outside", kind)
			}
		}
	}
}

// The page contains the whole result, whatever its texts are.
func TestResultRoundTrips(t *testing.T) {
	f := resulttest.Gated()
	f.Command = append(f.Command, `</script><script>alert("it ran")</script>`, "<!-- \u2028 & 'quoted'")
	text, root := pageOf(t, f)
	if strings.Contains(text, "<script>alert") {
		t.Error("what was in the result became an element")
	}
	got, err := results.Read(strings.NewReader(find(root, atom.Script)[0].FirstChild.Data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, got); diff != "" {
		t.Errorf("result (-written +read):\n%s", diff)
	}
	for kind, result := range once() {
		_, root := pageOf(t, result)
		want, _ := json.Marshal(result)
		if got := find(root, atom.Script)[0].FirstChild.Data; got != string(want) {
			t.Errorf("%s: the result in the page is another", kind)
		}
	}
}

// first returns the text of the first section. It must be enough to know which side is better, by how
// much, and whether to trust the numbers.
func first(t *testing.T, result results.Result) string {
	t.Helper()
	_, root := pageOf(t, result)
	return words(find(root, atom.Section)[0])
}

func TestFirstScreen(t *testing.T) {
	broken := resulttest.Lock()
	broken.Runs[0].Cost.Expected.Identities[0].Holds = false
	violated := resulttest.Gated()
	violated.Runs[1].Safety.Violations = 3
	interrupted := resulttest.Lock()
	interrupted.Interrupted = true
	differs := resulttest.Count()
	differs.Settled[0].Notifications.Counted++
	for _, c := range []struct {
		result results.Result
		want   []string
	}{
		{resulttest.Lock(), []string{"With 128 clients a release wakes 115 in the naive form and 1 in the herd-avoiding form", "times slower",
			"✓ safety: 8 of 8 checks pass", "✓ identities: 8 of 8 checks pass"}},
		{resulttest.Gated(), []string{"✕ Fail", "! one-node, 128 clients: the clients kept <all> cores busy & may be what was measured"}},
		{resulttest.Divided(), []string{"! one-node, 128 clients: agent rack1-node08: generator short of CPU: latencies are too high by up to 28.0 ms",
			"! one-node, 128 clients: agent rack2-node01: generator short of CPU: latencies are too high by up to 31.0 ms"}},
		{broken, []string{"▼ Regression", "a count is not what holds under any schedule", "▼ identities: 7 of 8 checks pass"}},
		{violated, []string{"✕ Fail", "SAFETY VIOLATED", "a form violated safety; the numbers are void", "✕ safety: 7 of 8 checks pass"}},
		{interrupted, []string{"! Interrupted: the last run may be partial"}},
		{resulttest.Count(), []string{"✓ Pass", "With 16 clients one write wakes at most: predecessor 1, one-node 15.", "All 6 counts match the model."}},
		{differs, []string{"▼ Regression", "1 of 6 counts do NOT match the model."}},
		{resulttest.Comparison(), []string{"▼ Regression", "REGRESSION: the candidate is worse: release.response.p99 +24.0 %, shown in 1 pair.", "! not the same client"}},
		{results.File{}, []string{"Nothing was measured: no run was begun."}},
	} {
		got := first(t, c.result)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in:\n%s", want, got)
			}
		}
	}
}

// Warnings of one kind take one line, whatever their number, and each is on the page once.
func TestWarningsOfOneKindTakeOneLine(t *testing.T) {
	f := resulttest.Lock()
	for i := range f.Runs {
		f.Runs[i].Warnings = []results.Warning{{Code: "cpu-stolen", Text: fmt.Sprintf("stolen %d", i)}}
	}
	f.Runs[3].Warnings = append(f.Runs[3].Warnings, results.Warning{Code: "other", Text: "another"})
	want := map[string]int{"predecessor, 2 clients: stolen 0": 7, "one-node, 8 clients: another": 0}
	got := map[string]int{}
	for _, c := range (page{Document: document.New(f)}).Caveats() {
		got[c.Text] = len(c.Others)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, root := pageOf(t, f)
	body := words(find(root, atom.Main)[0])
	if !strings.Contains(body, "! 9 warnings") {
		t.Error("their number is not said")
	}
	for _, once := range []string{"stolen 0", "stolen 7", "another"} {
		if n := strings.Count(body, once); n != 1 {
			t.Errorf("%q is on the page %d times", once, n)
		}
	}
}

// The levels of all tables are one choice, and the one of which the finding speaks is chosen.
func TestChoices(t *testing.T) {
	f := resulttest.Lock()
	of := func(f results.File) (all []string) {
		for _, c := range (page{Document: document.New(f)}).Choices() {
			line := c.Of + "/" + c.Crowd
			if c.Checked {
				line += " chosen"
			}
			all = append(all, line)
		}
		return all
	}
	if diff := cmp.Diff([]string{"/2 clients", "/8 clients", "/32 clients", "/128 clients chosen"}, of(f)); diff != "" {
		t.Errorf("one recipe (-want +got):\n%s", diff)
	}
	f.Runs = f.Runs[4:]
	for _, r := range f.Runs[:4:4] {
		r.Recipe = "election"
		f.Runs = append(f.Runs, r)
	}
	want := []string{"lock on native/32 clients", "/128 clients chosen", "election on native/32 clients", "/128 clients"}
	if diff := cmp.Diff(want, of(f)); diff != "" {
		t.Errorf("two recipes (-want +got):\n%s", diff)
	}
	if all := of(results.File{}); len(all) > 0 {
		t.Errorf("nothing was measured: %q", all)
	}
}

// Rows are grouped by their level, lines of intervals with the row that they are about.
func TestRowsAreGrouped(t *testing.T) {
	levels := document.Table{
		Columns: []document.Column{{Key: true}, {Key: true}, {}},
		Rows:    [][]string{{"2", "a", "1"}, {"", "", "[0, 2]"}, {"2", "b", "1"}, {"8", "a", "1"}},
	}
	plain := document.Table{Columns: []document.Column{{Key: true, Left: true}, {Key: true}}, Rows: [][]string{{"a", "1"}, {"a", "2"}}}
	var got []string
	for _, t := range []document.Table{levels, plain} {
		for row := range t.Rows {
			got = append(got, level(t, row))
		}
	}
	if diff := cmp.Diff([]string{"begins", "same", "same", "begins", "", ""}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Each verdict has its own word and sign.
func TestBadges(t *testing.T) {
	want := map[results.Verdict]badge{
		results.Pass: {"Pass", "good", "✓"}, results.Improvement: {"Improvement", "good", "▲"},
		results.Inconclusive: {"Inconclusive", "unsure", "≈"}, results.Invalid: {"Invalid", "unsure", "?"},
		results.Regression: {"Regression", "bad", "▼"}, results.Fail: {"Fail", "bad", "✕"},
		"": {"No verdict", "none", "○"},
	}
	for v, b := range want {
		if got := badgeOf(v); got != b {
			t.Errorf("%q: %v, want %v", v, got, b)
		}
	}
}

func TestThresholdsHaveTheirValues(t *testing.T) {
	_, root := pageOf(t, resulttest.Gated())
	got := words(find(root, atom.Table)[0])
	for _, want := range []string{
		"threshold run measured limit verdict",
		"lock.acquire.response.p99<50ms lock/predecessor, 128 clients 149 ms 50.0 ms ✕ fail",
		"lock.notifications_per_round<=1 lock/predecessor, 128 clients 1.00 1.00 ✓ pass",
		"predecessor.handoff.p999 < 0.5 * one-node.handoff.p999 lock/predecessor, 128 clients n/a n/a ? invalid",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// TestAgentsHaveATable finds the agents of a run, each with its figures, in a table of the report.
func TestAgentsHaveATable(t *testing.T) {
	_, root := pageOf(t, resulttest.Divided())
	for _, table := range find(root, atom.Table) {
		text := words(table)
		if !strings.Contains(text, "agents: the largest value in any run") {
			continue
		}
		for _, want := range []string{"agent", "host", "sessions", "requests/s", "CPU", "timers late p99", "clock error", "clock drift",
			"rack1-node07", "node07.rack1.example.org", "0.3 of 2 cores", "900 µs", "±38.2 µs", "−12.3 ppm", "rack2-node01", "1.9 of 2 cores", "±612 µs", "+88.8 ppm"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in: %s", want, text)
			}
		}
		return
	}
	t.Error("no table of agents")
}

// The tables of a count stand before its charts, a head that repeats the title is left out, and sentences are
// wrapped where figures are not.
func TestTablesThatLead(t *testing.T) {
	text, _ := pageOf(t, resulttest.Count())
	if table, chart := strings.Index(text, "<table"), strings.Index(text, "<figure"); table < 0 || chart < table {
		t.Errorf("the table of a count begins at %d, its charts at %d", table, chart)
	}
	text, _ = pageOf(t, resulttest.Sweep())
	if !strings.Contains(text, "<caption>growth and limits</caption>") || strings.Contains(text, ">growth and limits</th>") {
		t.Error("the title of the table of growth and limits is missing, or repeated in its head")
	}
	if !strings.Contains(text, `<td class="left prose">reads and writes`) || strings.Contains(text, `<td class="prose">`) {
		t.Error("sentences are not told from figures")
	}
}

// The report of an incident can be opened from the page.
func TestSourceOfAnIncidentIsALink(t *testing.T) {
	const source = "https://example.org/some-project/issues/1"
	passed := func(scenario string) results.Gate {
		return results.Gate{Scenario: scenario, Text: "fanout.max >= 16", Verdict: results.Pass}
	}
	result := resulttest.Lock()
	result.Incident = &results.Incident{Shows: "a release wakes {}", Reported: "no figures", Source: source}
	result.Gates = []results.Gate{passed(results.SymptomScenario), passed(results.FixedScenario)}
	_, root := pageOf(t, result)
	for n := range root.Descendants() {
		if n.DataAtom == atom.A && attribute(n, "href") == source {
			return
		}
	}
	t.Errorf("no link to %s", source)
}
