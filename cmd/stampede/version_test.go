package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stampede-bench/stampede/results"
)

func TestStamped(t *testing.T) {
	const commit = "0358ececc4ff0a4bd76db6c0a8b7ba4e3cd4ef4f"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.modified", Value: modified}, {Key: "vcs.revision", Value: commit}}
	}
	for name, c := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     results.Tool
	}{
		"nothing is known":            {"", nil, results.Tool{Version: "devel", Commit: "unknown"}},
		"a checkout, not stamped":     {"(devel)", nil, results.Tool{Version: "devel", Commit: "unknown"}},
		"a checkout":                  {"v0.1.0", vcs("false"), results.Tool{Version: "v0.1.0", Commit: commit}},
		"a checkout with changes":     {"v0.1.0+dirty", vcs("true"), results.Tool{Version: "v0.1.0+dirty", Commit: commit + " with changes"}},
		"go install of a release":     {"v0.1.0", nil, results.Tool{Version: "v0.1.0", Commit: "unknown"}},
		"go install between releases": {"v0.1.1-0.20261122043156-0358ececc4ff", nil, results.Tool{Version: "v0.1.1-0.20261122043156-0358ececc4ff", Commit: "0358ececc4ff"}},
	} {
		c.want.Go = runtime.Version()
		if got := stamped(&debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
