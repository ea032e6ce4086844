package native

import (
	"io"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// FuzzSession sends a session whatever packets it likes: the server survives,
// and another session is served as before.
func FuzzSession(f *testing.F) {
	for _, body := range []record{
		wire.PathWatch{Path: "/a", Watch: true}, open("/a", 3), wire.PathVersion{Path: "/a", Version: -1},
		wire.SetWatchesRequest{Data: []string{"/a"}}, wire.MultiEnd(),
	} {
		for _, op := range []int32{wire.OpExists, wire.OpCreate, wire.OpDelete, wire.OpSetWatches, wire.OpMulti} {
			f.Add(request(1, op, body))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t)
			bystander, fuzzed := openRaw(t, s), openRaw(t, s)
			go io.Copy(io.Discard, fuzzed)
			fuzzed.Write(stream)
			synctest.Wait()
			bystander.wantReply(bystander.ask(1, wire.OpExists, wire.PathWatch{Path: "/"}), 1, wire.OK)
			fuzzed.Close()
		})
	})
}
