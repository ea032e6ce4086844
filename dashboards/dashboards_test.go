package dashboards

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/results/figure"
)

// A panel is a panel of a dashboard with its queries.
type panel struct {
	Title, Description string
	Targets            []struct{ Expr, LegendFormat string }
}

func panels(t *testing.T) map[string][]panel {
	t.Helper()
	files, err := filepath.Glob("grafana/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("dashboards %v, %v", files, err)
	}
	all := make(map[string][]panel)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			UID, Title string
			Panels     []panel
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.HasPrefix(d.UID, "stampede-") || len(d.Panels) == 0 {
			t.Errorf("%s: id %q with %d panels", name, d.UID, len(d.Panels))
		}
		all[name] = d.Panels
	}
	return all
}

// query returns a panel's expression with Grafana's variables replaced by values.
func query(expr string) string {
	return strings.NewReplacer("$__rate_interval", "1m", "$__range", "1m", "$recipe", ".*", "$backend", ".*", "$instance", ".*").Replace(expr)
}

// TestEveryPanelAndRuleFindsSomething checks that each panel of each dashboard, and each rule,
// finds data in what a real Prometheus scraped from real runs and a real server. It also scrapes an
// observation.
func TestEveryPanelAndRuleFindsSomething(t *testing.T) {
	testenv.SkipIfShort(t)
	runs, server := startRuns(t)
	member := serve(t, export.Native(backendtest.Member(t)))
	p := startPrometheus(t, runs, server+", "+member, startObservation(t))
	for name, panels := range panels(t) {
		for _, panel := range panels {
			for _, target := range panel.Targets {
				expr := query(target.Expr)
				if strings.Contains(expr, "$") {
					t.Errorf("%s, %q: a variable that is not known in %s", name, panel.Title, expr)
				}
				awaitSome(p, name+", "+panel.Title, expr)
			}
		}
	}
	for _, r := range rules(t) {
		if r.Record != "" {
			awaitSome(p, r.Record, r.Record)
		}
	}
	awaitSome(p, "an observation", `stampede_observed_notifications_total{stampede_path="/config"} == 3`)
	awaitSome(p, "its fan-out", `histogram_quantile(1, stampede_observed_change_fanout{stampede_path="/config"}) >= 3`)
	awaitSome(p, "the naive form", `stampede:wasted_wakeups:ratio{stampede_family="naive"} > 0.5`)
	awaitHerdAlert(p, time.Now())
}

// TestNoPanelNamesAMetricThatIsNot checks that queries name only metrics that runs or servers
// export.
func TestNoPanelNamesAMetricThatIsNot(t *testing.T) {
	have := prometheusNames()
	check := func(where, expr string) {
		for _, name := range named(expr) {
			if !slices.Contains(have, name) {
				t.Errorf("%s: no metric %s in %s", where, name, expr)
			}
		}
	}
	for name, panels := range panels(t) {
		for _, panel := range panels {
			if panel.Title == "" || panel.Description == "" {
				t.Errorf("%s: a panel %q that does not say what it shows", name, panel.Title)
			}
			for _, target := range panel.Targets {
				check(name, target.Expr)
			}
		}
	}
	for _, r := range rules(t) {
		check(r.Record+r.Alert, r.Expr)
	}
	if got := named(`rate(stampede_sheep_total{stampede_form="one-node"}[1m])`); !slices.Equal(got, []string{"stampede_sheep_total"}) || slices.Contains(have, got[0]) {
		t.Errorf("a metric that is not is taken for one: %q", got)
	}
}

func TestPromtoolAcceptsTheRules(t *testing.T) {
	testenv.SkipIfShort(t)
	if _, err := exec.LookPath("promtool"); err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatal("no promtool: scripts/install-test-deps installs it")
		}
		t.Skip("no promtool is installed")
	}
	for _, args := range [][]string{{"check", "config", "prometheus/prometheus.yml"}, {"test", "rules", "prometheus/rules_test.yml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// A rule is a recording rule or an alert.
type rule struct{ Record, Alert, Expr string }

func rules(t *testing.T) (all []rule) {
	t.Helper()
	text, err := os.ReadFile("prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there is no rule")
	}
	return all
}

// named returns the metrics that an expression names, without those that rules record.
func named(expr string) (names []string) {
	for _, m := range regexp.MustCompile(`\bstampede_[a-z_]+[{\[ )]`).FindAllString(expr, -1) {
		if m = m[:len(m)-1]; strings.Count(expr, m+"=")+strings.Count(expr, m+"!=") == 0 && !grouping(expr, m) {
			names = append(names, m)
		}
	}
	return names
}

// grouping reports whether the word is a label that the expression groups by.
func grouping(expr, word string) bool {
	for _, m := range regexp.MustCompile(`(by|without) \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		if slices.Contains(strings.Split(strings.ReplaceAll(m[2], " ", ""), ","), word) {
			return true
		}
	}
	return false
}

// prometheusNames returns the metrics under their Prometheus names.
func prometheusNames() (names []string) {
	suffix := map[string]string{"s": "_seconds", "By": "_bytes"}
	for _, m := range figure.Exports() {
		name := strings.ReplaceAll(m.Name, ".", "_") + suffix[m.Unit]
		names = append(names, name, name+"_total")
	}
	return names
}

// awaitHerdAlert waits until Prometheus has evaluated the alert after the given time and the alert
// fires for sheep, the recipe that causes a herd. For other forms, which cause no herd or are
// naive, the alert must be neither firing nor pending.
func awaitHerdAlert(p *prom, after time.Time) {
	p.t.Helper()
	var herd judged
	p.await("the alert of a herd fires for sheep", func() bool {
		herd = p.alert("StampedeHerd")
		return herd.LastEvaluation.After(after) && slices.Contains(herd.firing("stampede_form"), "sheep")
	})
	for _, a := range herd.Alerts {
		if a.Labels["stampede_form"] != "sheep" {
			p.t.Errorf("the alert of a herd is %s for a form that makes none, or is a naive one: %v", a.State, a.Labels)
		}
	}
}

// awaitSome waits until a query returns a number.
func awaitSome(p *prom, who, expr string) {
	p.t.Helper()
	p.await(who+" finds something: "+expr, func() bool {
		values, err := p.values(expr)
		if err != nil {
			p.t.Fatalf("%s: %s: %v", who, expr, err)
		}
		return slices.ContainsFunc(values, func(v string) bool { return v != "NaN" })
	})
}
