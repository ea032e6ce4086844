package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A service that only says what it is.
type named struct{ drivers.Service }

func (named) Info() drivers.Info { return drivers.Info{Name: "zookeeper", Client: "go-zookeeper"} }

// Sessions that can and cannot.
type (
	plain      struct{ drivers.Conn }
	persistent struct{ drivers.PersistentWatcher }
)

func TestFormsThatNeedWhatASessionCannot(t *testing.T) {
	const why = "config/persistent needs persistent watches, and zookeeper is used through go-zookeeper, which has none: " +
		"try --backend native:?client=wire or zookeeper:?client=wire or etcd:"
	watch := workloads.Form{Recipe: "config", Name: "watch"}
	lasting := workloads.Form{Recipe: "config", Name: "persistent", Needs: workloads.PersistentWatches}
	for _, c := range []struct {
		name    string
		conn    drivers.Conn
		byName  bool
		can     int
		skipped []string
		err     string
	}{
		{"a session that can", persistent{}, true, 2, nil, ""},
		{"one that cannot", plain{}, false, 1, []string{why}, ""},
		{"one that cannot, and is asked to by name", plain{}, true, 0, nil, why},
	} {
		t.Run(c.name, func(t *testing.T) {
			can, skipped, err := reachedBy(c.conn, named{}).served([]catalog.Choice{{Form: watch}, {Form: lasting, ByName: c.byName}})
			if len(can) != c.can || !slices.Equal(skipped, c.skipped) {
				t.Errorf("can run %v and skips %q, want %d forms and %q", can, skipped, c.can, c.skipped)
			}
			if c.err != "" && (err == nil || err.Error() != c.err || exitCode(err) != exitUsage) {
				t.Errorf("error %v, want %q as a usage error", err, c.err)
			}
			if c.err == "" && err != nil {
				t.Error(errors.Unwrap(err))
			}
		})
	}
}
