package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec/spectest"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// company returns for a flag the other flags without which it has no effect.
func company() map[string][][2]string {
	open := [][2]string{{"rate", "100"}}
	return map[string][][2]string{
		"arrival": open, "late-limit": open, "preload-watches": {{"preload", "10"}}, "grow": {{"creates", "0.2"}},
		"clients": {{"clients", "8"}}, "producers": {{"clients", "16"}},
	}
}

// A chosenRun is the outcome of parsing flags: the flags, the plan and the setting in the result.
type chosenRun struct {
	flags   *Flags
	plan    workloads.Plan
	setting results.Setting
}

// chosenBy parses flags as run does, and runs nothing.
func chosenBy(t *testing.T, recipe string, set func(*pflag.FlagSet)) chosenRun {
	t.Helper()
	f, flags := Defaults(catalog.Forms())
	set(flags)
	j, err := NewJob(catalog.Forms(), []string{recipe}, *f)
	if err != nil {
		t.Fatal(err)
	}
	service, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	p := j.Flags.Plan(service, j.Chosen[0].Form, j.Flags.Clients[0], 0)
	return chosenRun{&j.Flags, p, j.Flags.Recorded(p)}
}

// text returns the plan in a form that can be compared.
func (c chosenRun) text() string {
	p := c.plan
	p.Service, p.Form = nil, workloads.Form{}
	return fmt.Sprintf("%+v", p)
}

// sample returns the run as a result records it, without measurements.
func (c chosenRun) sample() results.Run {
	return results.FromRecord(c.setting, &metrics.Record{Mix: &metrics.Mix{}, Background: &metrics.Record{Mix: &metrics.Mix{}}})
}

func comparedWith(base, other results.Run) string {
	_, warnings := compare.Rows([]results.File{{Runs: []results.Run{base}}}, []results.File{{Runs: []results.Run{other}}})
	var lines []string
	for _, w := range warnings {
		lines = append(lines, w.Text)
	}
	return strings.Join(lines, "\n")
}

// TestEveryFlagIsInTheResult checks that every flag of run, except those that cannot change a
// figure, is in each run's result, distinguishes runs that are compared, changes the plan, and is
// on the printed command. The test covers new flags automatically: a flag that is not a setting
// needs a reason.
func TestEveryFlagIsInTheResult(t *testing.T) {
	_, flags := Defaults(nil)
	not := notSettings()
	for name := range not {
		if flags.Lookup(name) == nil {
			t.Errorf("notSettings has --%s, which run has not", name)
		}
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if not[flag.Name] != "" {
			return
		}
		t.Run(flag.Name, func(t *testing.T) { checkSetting(t, flag.Name) })
	})
}

func checkSetting(t *testing.T, name string) {
	recipe := append(slices.Clone(usedBy()[name]), "lock")[0]
	with := func(flags *pflag.FlagSet) {
		for _, kv := range company()[name] {
			cli.Must(flags.Set(kv[0], kv[1]))
		}
	}
	set := func(flags *pflag.FlagSet) {
		with(flags)
		spectest.SetOther(t, flags.Lookup(name))
	}
	if connects(name) { // it needs servers and files that exist
		f, flags := Defaults(nil)
		was := f.settings(recipe)
		set(flags)
		if is := f.settings(recipe); is[name] == was[name] {
			t.Errorf("%q with and without it", is[name])
		}
		return
	}
	was, is := chosenBy(t, recipe, with), chosenBy(t, recipe, set)
	if was.setting.Settings[name] == is.setting.Settings[name] {
		t.Errorf("the result has %q with and without it", is.setting.Settings[name])
	}
	warned := comparedWith(was.sample(), is.sample())
	if !strings.Contains(warned, fmt.Sprintf("not the same %s: ", name)) {
		t.Errorf("compare says nothing of it: %s", warned)
	}
	if warned := comparedWith(was.sample(), was.sample()); warned != "" {
		t.Errorf("compare of two that are the same warns: %s", warned)
	}
	if name == MetricsFlag || name == ListenFlag || name == "agents" { // these only observe a run, or say who does it
		return
	}
	if was.text() == is.text() {
		t.Errorf("it changes nothing of what is done: %s", is.text())
	}
	again := chosenBy(t, recipe, func(flags *pflag.FlagSet) { cli.Must(flags.Parse(is.flags.Command([]string{recipe})[3:])) })
	if diff := cmp.Diff(is.setting.Settings, again.setting.Settings); diff != "" {
		t.Errorf("the printed command does something else (-was +again):\n%s", diff)
	}
}

// connects reports whether the flag concerns the connection to a service that is given by address.
func connects(name string) bool { return strings.HasPrefix(name, "tls-") || name == "user" }

// TestEveryFieldOfARunIsThere checks that flags with a field of their own change the result too.
func TestEveryFieldOfARunIsThere(t *testing.T) {
	for name, recipe := range map[string]string{"clients": "lock", "form": "lock", "reads": "mix"} {
		was := chosenBy(t, recipe, func(*pflag.FlagSet) {})
		is := chosenBy(t, recipe, func(flags *pflag.FlagSet) { spectest.SetOther(t, flags.Lookup(name)) })
		if cmp.Equal(was.sample(), is.sample()) {
			t.Errorf("--%s changes nothing of the result", name)
		}
	}
}

// TestReadersAreCompared checks that compare distinguishes one reader of a shared lock from eleven.
func TestReadersAreCompared(t *testing.T) {
	was := chosenBy(t, "shared-lock", func(flags *pflag.FlagSet) { cli.Must(flags.Set("readers", "1")) })
	is := chosenBy(t, "shared-lock", func(flags *pflag.FlagSet) { cli.Must(flags.Set("readers", "11")) })
	if got := comparedWith(was.sample(), is.sample()); got != "not the same readers: 1 and 11" {
		t.Error(got)
	}
}

// TestUsedBy checks that the table of the recipes that use a flag names existing flags and recipes.
func TestUsedBy(t *testing.T) {
	_, flags := Defaults(nil)
	for _, name := range slices.Sorted(maps.Keys(usedBy())) {
		if flags.Lookup(name) == nil {
			t.Errorf("run has no --%s", name)
		}
		for _, recipe := range usedBy()[name] {
			if !slices.Contains(catalog.Recipes(catalog.Forms()), recipe) {
				t.Errorf("--%s: there is no recipe %s", name, recipe)
			}
		}
	}
}

// TestUsesAreTheForms checks that the forms determine which recipe uses which flag: a revocable
// lock uses --readers too, and rounds of a barrier begin without think time.
func TestUsesAreTheForms(t *testing.T) {
	for _, c := range []struct {
		recipe, flag string
		want         bool
	}{
		{"shared-lock", "readers", true}, {"revocable-lock", "readers", true}, {"lock", "readers", false},
		{"lock", "think", true}, {"barrier", "think", false}, {"sessions", "think", false}, {"fanout", "hold", false},
		{"priority-queue", "priorities", true}, {"queue", "priorities", false}, {"queue", "backlog", true},
		{"mix", "size", true}, {"lock", "size", false}, {"lock", "groups", true}, {"mix", "ramp", true},
	} {
		if got := uses(c.recipe, c.flag); got != c.want {
			t.Errorf("%s uses --%s: %v, want %v", c.recipe, c.flag, got, c.want)
		}
	}
}

// TestEveryFlagOfAWorkloadIsUsed checks that a flag changes the settings of a workload if and only
// if some form uses it, so that a new flag cannot be forgotten.
func TestEveryFlagOfAWorkloadIsUsed(t *testing.T) {
	_, flags := Defaults(nil)
	flags.VisitAll(func(flag *pflag.Flag) {
		if notSettings()[flag.Name] != "" || connects(flag.Name) {
			return
		}
		recipe := append(slices.Clone(usedBy()[flag.Name]), "lock")[0]
		with := func(flags *pflag.FlagSet) {
			for _, kv := range company()[flag.Name] {
				cli.Must(flags.Set(kv[0], kv[1]))
			}
		}
		was := chosenBy(t, recipe, with).plan.Settings
		is := chosenBy(t, recipe, func(flags *pflag.FlagSet) {
			with(flags)
			spectest.SetOther(t, flags.Lookup(flag.Name))
		}).plan.Settings
		was.Namespace, is.Namespace = "", "" // the namespace, which is not a setting of a form
		if _, used := usedBy()[flag.Name]; used == (fmt.Sprintf("%+v", was) == fmt.Sprintf("%+v", is)) {
			t.Errorf("--%s: a form uses it: %v; with it the settings are %+v, without %+v", flag.Name, used, is, was)
		}
	})
}
