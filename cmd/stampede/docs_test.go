package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestDocumentation checks that the documentation matches the program: pages are generated from it,
// and exact counts are what it counts.
func TestDocumentation(t *testing.T) {
	withStampede(t)
	t.Run("counts of all", readmeCountsAll)
	t.Run("counts of the lock", readmeCountsTheLock)
	t.Run("recipes", recipePages)
	t.Run("manual", manualPages)
	t.Run("schema", publishedSchema)
	t.Run("systems", systemsPage)
	t.Run("incidents", incidentsPage)
	t.Run("shown incidents", shownIncidents)
	t.Run("wrong commands", wrongCommands)
}

// TestDocumentedCommands executes the commands that the pages show, page by page, each page in its own
// folder and in the page's order. Runs are as short as possible.
func TestDocumentedCommands(t *testing.T) {
	testenv.SkipIfShort(t)
	withStampede(t)
	typed := map[string]int{}
	for _, page := range documents(t) {
		text := contentOf(t, page)
		blocks, err := consoleBlocks(text)
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		blocks = append(blocks, mentioned(text))
		for _, b := range blocks {
			typed[b.mark] += len(b.commands)
		}
		t.Run(strings.TrimPrefix(page, "../../"), func(t *testing.T) {
			t.Parallel()
			dir := desk(t)
			for _, b := range blocks {
				for _, c := range b.commands {
					if err := typeIn(t, dir, b.mark, c); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	t.Logf("commands by mark: %v", typed)
	for mark := range marks() {
		if typed[mark] == 0 {
			t.Errorf("no command is marked %q, which the test knows", mark)
		}
	}
}

// withStampede builds the program and puts it into the PATH.
func withStampede(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "stampede"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
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
