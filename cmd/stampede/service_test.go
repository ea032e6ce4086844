package main

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A named is a service that only has a name.
type named struct{ drivers.Service }

func (named) Info() drivers.Info { return drivers.Info{Name: "zookeeper", Client: "go-zookeeper"} }

// Sessions without and with persistent watches; the server may reject a watch that the library
// supports.
type (
	plain      struct{ drivers.Conn }
	persistent struct {
		drivers.PersistentWatcher
		err error
	}
)

func (p persistent) WatchNode(context.Context, string, drivers.Watch) (func(), error) {
	return func() {}, p.err
}

func TestFormsThatNeedWhatASessionCannot(t *testing.T) {
	const why = "config/persistent needs persistent watches, and zookeeper is used through go-zookeeper, which has none: " +
		"try --backend native: or zookeeper: or etcd:"
	const whyOld = "config/persistent needs persistent watches, and zookeeper has none: not supported here"
	old, refused := persistent{err: drivers.ErrUnsupported}, persistent{err: drivers.ErrRefused}
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
		{"one whose server cannot", old, false, 1, []string{whyOld}, ""},
		{"one whose server cannot, and is asked to by name", old, true, 0, nil, whyOld},
		{"one whose server minds something else", refused, true, 2, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			can, skipped, err := reachedBy(t.Context(), c.conn, named{}).served([]catalog.Choice{{Form: watch}, {Form: lasting, ByName: c.byName}})
			if len(can) != c.can || !slices.Equal(skipped, c.skipped) {
				t.Errorf("can run %v and skips %q, want %d forms and %q", can, skipped, c.can, c.skipped)
			}
			if c.err != "" && (err == nil || err.Error() != c.err || cli.ExitCode(err) != cli.ExitUsage) {
				t.Errorf("error %v, want %q as a usage error", err, c.err)
			}
			if c.err == "" && err != nil {
				t.Error(errors.Unwrap(err))
			}
		})
	}
}
