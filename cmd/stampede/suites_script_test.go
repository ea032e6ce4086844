package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompareSuitesScript checks that scripts/compare-suites fails where a test's outcome with the
// proxy is none of those without it, and names the test.
func TestCompareSuitesScript(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes map[string]string // the content of each file
		reports  map[string]string
		code     int
		says     []string
		silent   string
	}{
		"the same": {
			outcomes: map[string]string{"a.without.1": "passed\tx\nfailed\ty y\nskipped\tz\n", "a.with.1": "failed\ty y\nskipped\tz\npassed\tx\n"},
			says:     []string{"a native 1 1 1 1 1 1 1"}, silent: "differs",
		},
		"another outcome": {
			outcomes: map[string]string{"a.without.1": "passed\tx\npassed\ty y\n", "a.with.1": "passed\tx\nfailed\ty y\n"},
			code:     1, says: []string{"a native 1 2 0 0 1 1 0", "differs: a y y: without passed, with failed"},
		},
		"a test that did not run": {
			outcomes: map[string]string{"a.without.1": "passed\tx\npassed\ty\n", "a.with.1": "passed\tx\n"},
			code:     1, says: []string{"differs: a y: without passed, with absent"},
		},
		"an outcome that both have in some run": {
			outcomes: map[string]string{
				"a.without.1": "passed\tx\n", "a.with.1": "failed\tx\n",
				"a.without.2": "passed\tx\n", "a.with.2": "passed\tx\n",
			},
			says: []string{"a native 1 1 0 0 0 1 0", "a native 2 1 0 0 1 0 0"}, silent: "differs",
		},
		"an outcome that differs in every run": {
			outcomes: map[string]string{
				"a.without.1": "passed\tx\n", "a.with.1": "failed\tx\n",
				"a.without.2": "passed\tx\n", "a.with.2": "failed\tx\n",
			},
			code: 1, says: []string{"differs: a x: without passed passed, with failed failed"},
		},
		"one of two suites": {
			outcomes: map[string]string{
				"a.without.1": "passed\tx\n", "a.with.1": "failed\tx\n", "b.without.1": "passed\tx\n", "b.with.1": "passed\tx\n",
			},
			code: 1, says: []string{"differs: a x: without passed, with failed", "b native 1 1 0 0 1 0 0"}, silent: "differs: b",
		},
		"reports": {
			outcomes: map[string]string{"a.without.1": "passed\tx\n", "a.with.1": "passed\tx\n", "tooz-etcd.without.1": "passed\tx\n", "tooz-etcd.with.1": "passed\tx\n"},
			reports: map[string]string{
				"a.1/1.json": `{"observed": {"traffic": {"notifications": 5}, "places": [{"form": {"herd": true}}, {"form": null}, {"form": {"herd": false}}]}}`,
				"a.1/2.json": `{"observed": {"traffic": {"notifications": 2}, "places": null}}`,
			},
			says: []string{"a native 1 1 0 0 1 0 0 2 7 1", "tooz-etcd etcd 1 1 0 0 1 0 0 0 0 0"}, silent: "differs",
		},
		"no test": {outcomes: map[string]string{"a.without.1": "", "a.with.1": ""}, code: 1, says: []string{"a native 1 0 0 0 0 0 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range c.outcomes {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			reports := filepath.Join(folder, "reports")
			for file, text := range c.reports {
				if err := os.MkdirAll(filepath.Join(reports, filepath.Dir(file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(reports, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, out := script(t, []string{"SERVER=native"}, "compare-suites", folder, reports)
			if got != c.code {
				t.Errorf("exit code %d, want %d: %s", got, c.code, out)
			}
			said := strings.Join(strings.Fields(out), " ")
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in: %s", want, out)
				}
			}
			if c.silent != "" && strings.Contains(said, c.silent) {
				t.Errorf("%q in: %s", c.silent, out)
			}
		})
	}
}
