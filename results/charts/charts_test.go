package charts

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// kinds returns a result of each kind.
func kinds() map[string]results.Result {
	return map[string]results.Result{
		"lock":       resulttest.Lock(),
		"sweep":      resulttest.Sweep(),
		"scaling":    resulttest.Scaling(),
		"reads":      resulttest.Reads(),
		"count":      resulttest.Count(),
		"comparison": resulttest.Comparison(),
	}
}

// once returns the kinds, computed at the first call: histograms take long under the race detector.
var once = sync.OnceValue(kinds)

func TestChartsOfEachKind(t *testing.T) {
	want := map[string][]string{
		"lock":       {"lock-notifications", "lock-latency-handoff", "lock-timeline", "lock-time", "lock-latency-acquire"},
		"sweep":      {"lock-notifications", "lock-latency-by-clients", "lock-throughput", "lock-latency-handoff", "lock-timeline"},
		"scaling":    {"mix-throughput", "mix-latency-by-clients", "mix-latency-read"},
		"reads":      {"mix-throughput", "mix-latency-by-reads"},
		"count":      {"lock-notifications", "lock-operations"},
		"comparison": {"changes"},
	}
	got := map[string][]string{}
	for kind, result := range once() {
		for _, c := range Charts(result) {
			got[kind] = append(got[kind], c.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("charts (-want +got):\n%s", diff)
	}
}

// The description of a chart for readers who cannot see it is prose, so a golden file has all of it.
func TestAbout(t *testing.T) {
	var got strings.Builder
	all := once()
	for _, kind := range []string{"lock", "sweep", "scaling", "reads", "count", "comparison"} {
		for _, c := range Charts(all[kind]) {
			got.WriteString(kind + " " + c.Name + "\n  " + c.About + "\n  " + c.Caption + "\n")
		}
	}
	golden.Compare(t, "testdata/about.txt", []byte(got.String()))
}

func TestSVG(t *testing.T) {
	for kind, result := range once() {
		for _, c := range Charts(result) {
			broad := "500"
			if c.Wide {
				broad = "900"
			}
			// A page has the chart twice, a file once.
			screen, phone, _ := strings.Cut(c.Inline(), "</svg>\n")
			for _, d := range []struct{ name, svg, class, width string }{
				{"broad", screen + "</svg>", "broad", broad}, {"narrow", phone, "narrow", "340"}, {"file", c.alone(), "chart", "420"},
			} {
				t.Run(kind+"/"+c.Name+"/"+d.name, func(t *testing.T) {
					texts := wellFormed(t, d.svg)
					width, _ := strconv.ParseFloat(d.width, 64)
					checkNames(t, drawing{c, float64(width)}, texts)
					if !strings.Contains(d.svg, `role="img"`) || !strings.Contains(d.svg, `viewBox="0 0 `+d.width+` `) || !strings.Contains(d.svg, `class="`+d.class+`"`) {
						t.Errorf("want a role, the class %s and a width of %s: %.300s", d.class, d.width, d.svg)
					}
					loads := strings.NewReplacer(`xmlns="http://www.w3.org/2000/svg"`, "").Replace(d.svg)
					if regexp.MustCompile(`(?i)https?:|href|url\(|<script|<image|@import`).MatchString(loads) {
						t.Error("it refers to something outside")
					}
				})
			}
		}
	}
}

// wellFormed checks that the SVG is well-formed XML, and returns the texts of its elements.
func wellFormed(t *testing.T, svg string) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
}

// checkNames checks that the texts include the chart's title, its description, and the names of its axes
// and series.
func checkNames(t *testing.T, c drawing, texts []string) {
	t.Helper()
	all := strings.Join(texts, " ")
	if !strings.HasPrefix(c.About, c.Title) || !regexp.MustCompile(`\d`).MatchString(strings.TrimPrefix(c.About, c.Title)) {
		t.Errorf("said of it: %q, want the title and numbers", c.About)
	}
	wanted := append([]string{c.Title, c.About}, c.titleLines()...)
	for i, p := range c.panels {
		wanted = append(wanted, p.y.label)
		if i == len(c.panels)-1 {
			wanted = append(wanted, p.x.label)
			if p.x.label == "" {
				t.Error("the first axis has no name")
			}
		}
		for _, l := range p.lines {
			wanted = append(wanted, l.name)
		}
		if len(p.x.ticks) < 2 || len(p.y.ticks) < 2 {
			t.Errorf("%d and %d ticks, want at least 2 on each axis", len(p.x.ticks), len(p.y.ticks))
		}
	}
	for _, w := range wanted {
		if !strings.Contains(all, w) {
			t.Errorf("no text %q", w)
		}
	}
}

// Each measured point has its value as a text that lies within the chart, and only the style decides
// whether it is visible.
func TestPointsHaveTips(t *testing.T) {
	shape := regexp.MustCompile(`<g class="tip">.*?<rect x="([-0-9.]+)" y="([-0-9.]+)" width="([0-9.]+)" height="([0-9.]+)".*?<text[^>]*>([^<]*)</text>\s*</g></g>`)
	for kind, result := range once() {
		for _, c := range Charts(result) {
			if kind == "comparison" { // its values stand beside the points
				continue
			}
			for _, d := range []drawing{{c, halfPage}, {c, phone}} {
				svg := d.element("broad", "")
				all := shape.FindAllStringSubmatch(svg, -1)
				if len(all) < 2 || len(all) != strings.Count(svg, `class="tip"`) {
					t.Errorf("%s/%s: %d tips", kind, c.Name, len(all))
				}
				for _, m := range all {
					var x, y, wide, high float64
					fmt.Sscan(strings.Join(m[1:5], " "), &x, &y, &wide, &high)
					if x < 0 || y < 0 || x+wide > d.width || y+high > d.height() || !regexp.MustCompile(`\d`).MatchString(m[5]) {
						t.Errorf("%s/%s: tip %q at %v, %v", kind, c.Name, m[5], x, y)
					}
				}
			}
		}
	}
	about := Charts(resulttest.Lock())[0].Inline()
	if want := "one-node, 128 clients: 115 notifications per round</text>"; !strings.Contains(about, want) {
		t.Errorf("no tip %q", want)
	}
}

// Every vertical axis of positive values has a label above all values.
func TestTopTicks(t *testing.T) {
	for kind, result := range once() {
		for _, c := range Charts(result) {
			for _, p := range c.panels {
				if p.y.gridless { // rows of a comparison
					continue
				}
				top := p.y.ticks[len(p.y.ticks)-1].value
				if most := slices.Max(intervalsOf(p.lines)); most > top*1.0001 || top > p.y.high*1.0001 {
					t.Errorf("%s/%s: values up to %v, labels up to %v, axis up to %v", kind, c.Name, most, top, p.y.high)
				}
			}
		}
	}
}

// Each chart becomes a file, and a scenario's name cannot turn the file name into a path.
func TestFiles(t *testing.T) {
	f := resulttest.Lock()
	for i := range f.Runs {
		f.Runs[i].Scenario = "../a b"
	}
	var names []string
	for _, file := range Files(f) {
		names = append(names, file.Name)
		if !strings.HasPrefix(file.SVG, "<?xml") || !strings.Contains(file.SVG, "prefers-color-scheme:dark") {
			t.Errorf("%s is no file of its own: %.60s", file.Name, file.SVG)
		}
	}
	want := []string{"a-b-lock-notifications.svg", "a-b-lock-latency-handoff.svg", "a-b-lock-timeline.svg", "a-b-lock-time.svg", "a-b-lock-latency-acquire.svg"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// Every colour is a variable with a value for the light and the dark scheme.
func TestPainted(t *testing.T) {
	for _, c := range Charts(resulttest.Lock()) {
		svg := c.Inline()
		if left := regexp.MustCompile(`(fill|stroke):#\w+`).FindString(svg); left != "" {
			t.Errorf("%s: %s is no variable", c.Name, left)
		}
		for _, m := range regexp.MustCompile(`var\((--\w+)`).FindAllStringSubmatch(svg, -1) {
			for _, dark := range []bool{false, true} {
				if !strings.Contains(Variables(dark), m[1]+":") {
					t.Errorf("%s: %s has no value (dark: %v)", c.Name, m[1], dark)
				}
			}
		}
	}
}

func TestNoChartWithoutData(t *testing.T) {
	one := resulttest.Lock()
	one.Runs = one.Runs[:2] // one level, which has no curve
	bare := results.File{Runs: []results.Run{{Recipe: "lock", Form: "predecessor", Clients: 2}}}
	idle := results.Sweep{Axes: []string{"clients"}}
	for name, result := range map[string]results.Result{
		"no run": results.File{}, "nothing measured": bare, "no level": idle,
		"nothing counted": results.CountReport{}, "nothing compared": results.Comparison{},
	} {
		if all := Charts(result); len(all) > 0 {
			t.Errorf("%s: %q and others, want no chart", name, all[0].Name)
		}
	}
	if i := slices.IndexFunc(Charts(one), func(c Chart) bool { return c.Name == "lock-notifications" }); i >= 0 {
		t.Error("one level of clients has a chart against clients")
	}
}
