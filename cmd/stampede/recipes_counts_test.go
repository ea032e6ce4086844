package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// tabled is the number of clients in the tables of the pages.
const tabled = 8

// A counting is one way to count forms, for the recipes that have such forms.
type counting struct{ flags, client string }

// countings covers every form, each on a service that supports it.
func countings() []counting {
	return []counting{
		{"--form all --clients 8", ""},
		{"--form library --clients 8 --backend etcd:", "clientv3"},
	}
}

// of returns the command for a recipe, "" if it applies to none of the recipe's forms.
func (c counting) of(recipe string) string {
	for _, f := range catalog.Forms() {
		if f.Recipe == recipe && (c.client == "" || f.Client == c.client) {
			return "stampede count " + recipe + " " + c.flags
		}
	}
	return ""
}

// countedForms counts all forms with the tabled number of clients. It compares the charts with
// those of the pages.
func countedForms(t *testing.T) map[string]results.Settled {
	folder, all := t.TempDir(), map[string]results.Settled{}
	for i, c := range countings() {
		args := []string{"count"}
		for _, recipe := range recipesOf(catalog.Forms()) {
			if c.of(recipe) != "" {
				args = append(args, recipe)
			}
		}
		args = append(args, strings.Fields(c.flags)...)
		if i == 0 {
			args = append(args, "--clients", "2,4,8,16,32", "-o", "svg="+folder)
		}
		file := filepath.Join(folder, "count.json")
		stampede(t, append(args, "-o", "json="+file)...)
		var report results.CountReport
		if err := json.Unmarshal([]byte(contentOf(t, file)), &report); err != nil {
			t.Fatal(err)
		}
		for _, s := range report.Settled {
			if s.Clients == tabled {
				all[s.Recipe+"/"+s.Form] = s
			}
		}
	}
	charts, err := filepath.Glob(folder + "/*.svg")
	want := len(recipesOf(catalog.Forms()))
	for _, recipe := range recipesOf(catalog.Forms()) {
		if notifies(recipe, all) {
			want++
		}
	}
	if err != nil || len(charts) != want {
		t.Fatalf("%d charts (%v), want %d", len(charts), err, want)
	}
	for _, chart := range charts {
		golden.Compare(t, recipeFolder+filepath.Base(chart), []byte(contentOf(t, chart)))
	}
	return all
}

// notifies reports whether a form of the recipe causes notifications: else there is no chart of them.
func notifies(recipe string, settled map[string]results.Settled) bool {
	for name, s := range settled {
		if strings.HasPrefix(name, recipe+"/") && s.Notifications.Counted > 0 {
			return true
		}
	}
	return false
}

// stories writes the trace of a settled run of the recipe and of its naive twin, step by step. A
// race of two consumers for an item ends differently each time, so the traces of a queue show
// settings in which one consumer waits.
func (p *recipePage) stories() {
	p.printf("\n## Step by step\n")
	commands := []string{"--clients 3 --trace"}
	if strings.HasSuffix(p.recipe, "queue") {
		commands = []string{"--form one-watcher --clients 3 --items 1 --trace", "--clients 2 --items 1 --trace"}
	}
	for _, flags := range commands {
		args := append([]string{"count", p.recipe}, strings.Fields(flags)...)
		text, _, _ := strings.Cut(strings.TrimPrefix(inTurn(p.t, args), "\n"), "\n  saved: ")
		p.printf("\n```console\n$ stampede %s\n%s```\n", strings.Join(args, " "), text)
	}
}

// inTurn returns the output of count --trace in which the clients that race for a release win in
// order. A race of two clients has two outcomes, and there is at most one race.
func inTurn(t *testing.T, args []string) string {
	t.Helper()
	for range 100 {
		text := stampede(t, args...)
		if !slices.ContainsFunc(strings.Split(text, "step by step"), func(form string) bool {
			return !slices.IsSorted(releasing.FindAllString(form, -1))
		}) {
			return text
		}
	}
	t.Fatalf("stampede %s: never in turn", strings.Join(args, " "))
	return ""
}

// releasing matches the heading of a release.
var releasing = regexp.MustCompile(`(?m)^  \d+ releases$`)
