package catalog_test

import (
	"regexp"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/systems"
)

// TestSystemsCostWhatTheModelSays checks that the form of each system costs exactly what its
// model predicts with 2, 8 and, in a long test run, 64 members: a form for ZooKeeper on the
// native server and on ZooKeeper, a form of etcd's client on etcd.
func TestSystemsCostWhatTheModelSays(t *testing.T) {
	clients := []int{2, 8, 64}
	if testing.Short() {
		clients = clients[:2]
	}
	settledOn := map[string]int{}
	settleAll := func(t *testing.T, service drivers.Service) {
		for _, f := range served(t, service) {
			if !used(f) {
				continue
			}
			settledOn[f.String()]++
			for _, n := range clients {
				settle(t, service, f, n)
			}
		}
	}
	for _, url := range []string{"native:", "zookeeper:", "etcd:"} {
		t.Run(url, func(t *testing.T) {
			if url != "native:" {
				testenv.SkipIfShort(t)
			}
			settleAll(t, backendtest.Own(t, url))
		})
	}
	for _, s := range systems.All() {
		f := listed(t, s)
		want := 2
		if f.Client == "clientv3" {
			want = 1
		}
		if got := settledOn[f.String()]; got < want && !testing.Short() {
			t.Errorf("%s: %v was counted on %d services, want %d", s.Name, f, got, want)
		}
	}
}

// used reports whether a system uses the form.
func used(f workloads.Form) bool {
	for _, s := range systems.All() {
		if s.Recipe == f.Recipe && s.Form == f.Name {
			return true
		}
	}
	return false
}

// listed returns the form of a system.
func listed(t *testing.T, s systems.System) workloads.Form {
	t.Helper()
	for _, f := range catalog.Forms() {
		if f.Recipe == s.Recipe && f.Name == s.Form {
			return f
		}
	}
	t.Fatalf("%s uses %s/%s, which is not in the catalogue", s.Name, s.Recipe, s.Form)
	panic("unreachable")
}

// TestSystemsAreWhole checks that each system has a source at a commit, a text in each
// column, a cost per change, and a name that no form and no other system has.
func TestSystemsAreWhole(t *testing.T) {
	commit := regexp.MustCompile(`^[0-9a-f]{40}$`)
	names := map[string]bool{catalog.All: true}
	for _, f := range catalog.Forms() {
		names[f.Name], names[string(f.Family)] = true, true
	}
	if n := len(systems.All()); n < 16 {
		t.Errorf("%d systems, want at least 16", n)
	}
	for _, s := range systems.All() {
		if names[s.Name] {
			t.Errorf("%s is already the name of a form or a system", s.Name)
		}
		names[s.Name] = true
		for what, text := range map[string]string{"product": s.Product, "repository": s.Source.Repository, "path": s.Source.Path,
			"place": s.Source.At, "description": s.Does, "members": s.Members} {
			if text == "" {
				t.Errorf("%s has no %s", s.Name, what)
			}
		}
		if len(s.Versions) == 0 || s.Versions[0].Instead != "" {
			t.Errorf("%s holds for no version", s.Name)
		}
		if !commit.MatchString(s.Source.Commit) {
			t.Errorf("%s: %q is not a commit", s.Name, s.Source.Commit)
		}
		f := listed(t, s)
		model, known := costmodel.ModelOf(f.Recipe, f.Name)
		if !known {
			t.Errorf("%s: %v has no model", s.Name, f)
			continue
		}
		if _, ok := model.ChangeOf(f.Recipe, workloads.Settings{Queue: workloads.QueueSettings{Items: 4}}.Params); !ok {
			t.Errorf("%s: the cost of a change of %v is no polynomial", s.Name, f)
		}
	}
}
