package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/systems"
)

// TestLibrariesCostWhatIsSaid runs each library of docs/systems.md itself under stampede observe,
// and checks its counts for one change with 2, 8 and 64 members.
func TestLibrariesCostWhatIsSaid(t *testing.T) {
	testenv.SkipIfShort(t)
	bin := t.TempDir()
	stampede := filepath.Join(bin, "stampede")
	build(t, "build", "-o", stampede, "../../cmd/stampede")
	programs := map[string]func(*testing.T) []string{
		"kazoo": func(t *testing.T) []string {
			return []string{backendtest.Python(t, "kazoo", "python3-kazoo"), "kazoo_recipes.py"}
		},
		"Curator": curatorProgram,
		"Go":      func(t *testing.T) []string { return []string{goProgram(t)} },
	}
	for program, command := range programs {
		t.Run(program, func(t *testing.T) {
			command := command(t)
			for _, l := range systems.Libraries() {
				if l.Program == program {
					t.Run(l.System, func(t *testing.T) { costsWhatIsSaid(t, l, stampede, command) })
				}
			}
		})
	}
}

func goProgram(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "gorecipes")
	build(t, "build", "-o", program, "./gorecipes")
	return program
}

// costsWhatIsSaid compares a run in which each client takes one turn, or a barrier is opened
// once, with one in which it takes two.
func costsWhatIsSaid(t *testing.T, l systems.Library, stampede string, command []string) {
	for _, n := range []int{2, 8, 64} {
		changes := int64(n)
		if l.Others > 0 {
			changes = 1
		}
		var counts [2]observation
		for i := range counts {
			with := append(slices.Clone(command), l.Recipe, fmt.Sprint(n+l.Others), fmt.Sprint(1+i))
			if l.Etcd {
				counts[i] = observed(t, stampede, with, "--backend", "etcd:")
			} else {
				counts[i] = observed(t, stampede, with)
			}
		}
		once, twice := counts[0].Observed.Traffic, counts[1].Observed.Traffic
		for what, c := range map[string]struct {
			got  int64
			each costmodel.Polynomial
		}{
			"notifications": {twice.Notifications - once.Notifications, l.Notifications},
			"reads":         {twice.Reads - once.Reads, l.Reads},
			"writes":        {twice.Writes - once.Writes, l.Writes},
			"failed writes": {twice.FailedWrites - once.FailedWrites, costmodel.Polynomial{}},
		} {
			if want := changes * int64(c.each.Value(n)); c.got != want {
				t.Errorf("%d members: %d %s for %d changes, want %d = %d × (%v)", n, c.got, what, changes, want, changes, c.each)
			}
		}
	}
}

// TestVersionsAreThoseOfTheModule checks the versions that docs/systems.md says of Go libraries.
func TestVersionsAreThoseOfTheModule(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{"go-zookeeper": "github.com/go-zookeeper/zk ", "etcd client": "go.etcd.io/etcd/client/v3 "}
	for _, l := range systems.Libraries() {
		i := strings.LastIndex(l.Version, " ")
		if module, known := modules[l.Version[:i]]; known && !strings.Contains(string(text), module+l.Version[i+1:]+"\n") {
			t.Errorf("%s: go.mod does not require %s%s", l.System, module, l.Version[i+1:])
		} else if !known && l.Program == "Go" {
			t.Errorf("%s: no module for %q", l.System, l.Version)
		}
	}
}
