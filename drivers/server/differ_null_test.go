package server_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A noPath is a request whose path is null, with what follows the path.
type noPath []byte

func (r noPath) Append(b []byte) []byte { return append(wire.AppendInt(b, -1), r...) }

// A request without a path fails as on ZooKeeper, and takes a zxid where it takes one there. It is not a request about
// the root, which the empty path is.
func TestNullPathsAreRefusedAsByZooKeeper(t *testing.T) {
	testenv.SkipIfShort(t)
	flag, version := wire.AppendBool(nil, false), wire.AppendInt(nil, -1)
	open := wire.CreateRequest{Data: []byte("x"), ACL: []wire.ACL{wire.OpenACL()}}.Append(nil)[4:] // behind the path
	requests := []request{
		{wire.OpExists, noPath(flag)}, {wire.OpGetData, noPath(flag)}, {wire.OpGetChildren, noPath(flag)},
		{wire.OpGetChildren2, noPath(wire.AppendBool(nil, true))}, {wire.OpGetACL, noPath(nil)}, {wire.OpAllChildrenNum, noPath(nil)},
		{wire.OpCreate, noPath(open)}, {wire.OpCreate2, noPath(open)}, {wire.OpDelete, noPath(version)},
		{wire.OpSetData, noPath(append(wire.AppendBytes(nil, nil), version...))},
		{wire.OpGetEphemerals, noPath(nil)}, {wire.OpSync, noPath(nil)},
		{wire.OpExists, wire.PathWatch{Path: ""}}, {wire.OpExists, wire.PathWatch{Path: "/"}},
	}
	apache := newSide(t, backendtest.ZooKeeper(t, "forceSync=no\n"), 1)
	native := newSide(t, backendtest.Native(t, server.Options{}), 1)
	if diff := cmp.Diff(apache.converse(0, requests), native.converse(0, requests)); diff != "" {
		t.Errorf("(-ZooKeeper +native):\n%s", diff)
	}
}
