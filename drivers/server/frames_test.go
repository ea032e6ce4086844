package server

import (
	"io"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/drivers/wire/captured"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// FuzzSession sends arbitrary packets before or after a session is established. The server
// survives, and serves another session as before.
func FuzzSession(f *testing.F) {
	bodies := []record{
		wire.PathWatch{Path: "/a", Watch: true}, open("/a", 3), wire.PathVersion{Path: "/a", Version: -1},
		wire.SetWatchesRequest{Data: []string{"/a"}}, wire.MultiEnd(), wire.AddWatchRequest{Path: "/", Mode: 1},
		wire.CreateTTLRequest{CreateRequest: open("/a", wire.FlagTTL), TTL: 1}, wire.SetACLRequest{Path: "/a"},
		wire.AuthRequest{Scheme: "digest", Auth: []byte("u:p")}, wire.SetWatches2Request{Recursive: []string{"/"}},
	}
	for i, op := range []int32{wire.OpExists, wire.OpCreate, wire.OpDelete, wire.OpSetWatches, wire.OpMulti, wire.OpAddWatch,
		wire.OpCreateTTL, wire.OpSetACL, wire.OpAuth, wire.OpSetWatches2, wire.OpMultiRead, wire.OpRemoveWatches,
		wire.OpGetACL, wire.OpGetEphemerals, wire.OpAllChildrenNum, wire.OpWhoAmI, wire.OpCheckWatches} {
		f.Add(true, request(1, op, bodies[i%len(bodies)]))
	}
	packets, err := captured.Packets()
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range packets {
		if p.Request {
			f.Add(p.Op != wire.OpCreateSession, p.Framed())
		}
	}
	for _, word := range []string{"ruok", "wchc", "crst"} {
		f.Add(false, []byte(word))
	}
	f.Fuzz(func(t *testing.T, opened bool, stream []byte) {
		bubble.Test(t, func(t *testing.T) {
			s := newServer(t)
			bystander, fuzzed := openRaw(t, s), dialRaw(t, s)
			if opened {
				fuzzed.connect(wire.ConnectRequest{Timeout: 10_000})
			}
			go io.Copy(io.Discard, fuzzed)
			fuzzed.Write(stream)
			synctest.Wait()
			bystander.wantReply(bystander.ask(1, wire.OpExists, wire.PathWatch{Path: "/"}), 1, wire.OK)
			fuzzed.Close()
		})
	})
}
