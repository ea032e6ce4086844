package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link matches the target of a link or a picture on a page.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksLeadSomewhere checks that the targets of a page's links within the project exist.
func TestLinksLeadSomewhere(t *testing.T) {
	found := 0
	for _, page := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(contentOf(t, page), -1) {
			path, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			found++
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: nothing at %s", page, m[1])
			} else if heading != "" && !hasHeading(contentOf(t, to), heading) {
				t.Errorf("%s: no heading at %s", page, m[1])
			}
		}
	}
	if found < 100 {
		t.Errorf("%d links, want all there are", found)
	}
}

// goCommand matches a go command with all its arguments, in a line of text or of a block, and packageFolder the folders among them.
var (
	goCommand     = regexp.MustCompile("\\bgo (?:test|run|vet|build) [^`\\n|]*")
	packageFolder = regexp.MustCompile(`(?:^| )(\./[\w./-]+)`)
)

// TestGoCommandsNameFoldersThatExist checks the packages of go commands on pages. Most of them are not executed: they take long.
func TestGoCommandsNameFoldersThatExist(t *testing.T) {
	found := 0
	for _, page := range documents(t) {
		for _, command := range goCommand.FindAllString(contentOf(t, page), -1) {
			for _, m := range packageFolder.FindAllStringSubmatch(command, -1) {
				found++
				if _, err := os.Stat(filepath.Join("../..", strings.TrimSuffix(m[1], "..."))); err != nil {
					t.Errorf("%s: %s: nothing at %s", page, command, m[1])
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d folders, want all there are", found)
	}
}

// hasHeading reports whether a heading has the anchor, which GitHub derives from the heading's
// words.
func hasHeading(page, anchor string) bool {
	for line := range strings.SplitSeq(page, "\n") {
		words := strings.TrimLeft(line, "#")
		if words != line && strings.ReplaceAll(unspoken.ReplaceAllString(strings.ToLower(strings.TrimSpace(words)), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// unspoken matches the characters that no anchor contains.
var unspoken = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

func TestHasHeading(t *testing.T) {
	page := "# One\n\n## Closed and open loops, etc.\n"
	for anchor, want := range map[string]bool{"one": true, "closed-and-open-loops-etc": true, "two": false, "Closed and open loops, etc.": false} {
		if hasHeading(page, anchor) != want {
			t.Errorf("%s: want %v", anchor, want)
		}
	}
}
