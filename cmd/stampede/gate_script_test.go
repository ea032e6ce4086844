package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGateScriptNeverPassesWhatIsInvalid checks that scripts/gate returns any exit code of stampede
// ab unchanged: pairs that were measured badly pass neither silently nor with --inconclusive warn. Both commands get
// each word of each line.
func TestGateScriptNeverPassesWhatIsInvalid(t *testing.T) {
	for _, c := range []struct {
		asked        string // the variable INCONCLUSIVE
		ab           string // the exit code of ab
		inconclusive string // the value that ab gets
		want         int
	}{
		{"", "0", "warn", 0}, {"", "97", "warn", 97}, {"", "98", "warn", 98}, {"warn", "97", "warn", 97}, {"fail", "97", "fail", 97},
	} {
		folder := t.TempDir()
		executable(t, filepath.Join(folder, "go"), `for last; do [ "$flag" = -o ] && out=$last; flag=$last; done; cp "$STUB" "$out"`)
		stub := filepath.Join(folder, "stub")
		executable(t, stub, `(IFS=,; echo "$*") >>"$CALLS"; [ "$1" = count ] || exit "$AB"`)
		calls := filepath.Join(folder, "calls")
		got, out := script(t, []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "STUB=" + stub, "CALLS=" + calls, "AB=" + c.ab, "INCONCLUSIVE=" + c.asked, "GITHUB_ACTIONS=",
			"RECIPES=lock\nelection", "ARGUMENTS=--form predecessor\n--settings 'hold=1ms $(exit)'\n"}, "gate")
		if got != c.want {
			t.Errorf("INCONCLUSIVE=%s, ab ends with %s: exit code %d, want %d: %s", c.asked, c.ab, got, c.want, out)
		}
		said, err := os.ReadFile(calls)
		want := "count,lock,election,--form,all,--clients,2,8,-o,table\n" +
			"ab,lock/one-node,lock/predecessor,--clients,32,--inconclusive," + c.inconclusive + ",--form,predecessor,--settings,hold=1ms $(exit),-o,table\n"
		if err != nil || string(said) != want {
			t.Errorf("INCONCLUSIVE=%s: %v, called\n%swant\n%s", c.asked, err, said, want)
		}
	}
}

// script runs one of the project's scripts with variables, and returns its exit code and what it printed.
func script(t *testing.T, variables []string, name string, args ...string) (code int, out string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", append([]string{"../../scripts/" + name}, args...)...)
	c.Env = append(os.Environ(), variables...)
	said, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(said)
}

func executable(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/usr/bin/env bash\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
