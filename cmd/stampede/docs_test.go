package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDocumentation checks that the documentation matches the program: pages are generated from it,
// and the commands that pages show are run. It builds the program separately, since this test
// binary would take minutes under the race detector.
func TestDocumentation(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "stampede"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Run("counts of all", readmeCountsAll)
	t.Run("counts of the lock", readmeCountsTheLock)
	t.Run("recipes", recipePages)
	t.Run("manual", manualPages)
	t.Run("schema", publishedSchema)
	t.Run("systems", systemsPage)
	t.Run("incidents", incidentsPage)
	t.Run("shown incidents", shownIncidents)
	t.Run("wrong commands", wrongCommands)
	t.Run("commands", documentedCommands)
}

// stampede returns what the program writes to standard output.
func stampede(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command("stampede", args...)
	c.Env = append(os.Environ(), "STAMPEDE_SAVE="+t.TempDir())
	out, err := c.Output()
	if err != nil {
		t.Fatalf("stampede %q: %v", args, err)
	}
	return string(out)
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
