package server

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A register is a node that clients read, write, and write conditionally on its version.
type register struct {
	version int32
	value   int64
}

// A registerCall is a write or, without one, a read.
type registerCall struct {
	key     string
	write   bool
	version int32 // expected by a write, or −1
	value   int64
}

// A registerReply is the node's state at a read or after a write that succeeded.
type registerReply struct {
	register
	refused bool
}

// registers is the model that any history of concurrent clients must satisfy.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(registerCall).key
			byKey[key] = append(byKey[key], op)
		}
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		was, call, reply := state.(register), input.(registerCall), output.(registerReply)
		switch {
		case !call.write:
			return reply.register == was, was
		case call.version != -1 && call.version != was.version:
			return reply.refused, was
		}
		now := register{was.version + 1, call.value}
		return !reply.refused && reply.version == now.version, now
	},
}

// history runs clients that read and write a few registers concurrently, each with several
// outstanding requests.
func history(t *testing.T, clients, rounds int) []porcupine.Operation {
	s := newServer(t)
	keys := []string{"/a", "/b"}
	setup := openRaw(t, s)
	for i, key := range keys {
		create := open(key, 0)
		create.Data = wire.AppendLong(nil, 0)
		setup.wantReply(setup.ask(int32(i), wire.OpCreate, create), int32(i), wire.OK)
	}
	var mu sync.Mutex
	var all []porcupine.Operation
	var group sync.WaitGroup
	for id := range clients {
		r, random := openTCP(t, s), rand.New(rand.NewPCG(uint64(id), 1))
		group.Go(func() {
			seen := map[string]int32{}
			for range rounds {
				ops := r.burst(random, keys, id, seen)
				mu.Lock()
				all = append(all, ops...)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all
}

// burst pipelines a few requests and returns them with their replies. Conditional writes expect the
// versions that the client saw last.
func (r *raw) burst(random *rand.Rand, keys []string, client int, seen map[string]int32) (ops []porcupine.Operation) {
	var b []byte
	for range 1 + random.IntN(4) {
		key := keys[random.IntN(len(keys))]
		call := registerCall{key: key, write: random.IntN(2) == 0, version: seen[key], value: random.Int64()}
		if random.IntN(4) == 0 {
			call.version = -1
		}
		ops = append(ops, porcupine.Operation{ClientId: client, Input: call})
		if call.write {
			set := wire.SetDataRequest{Path: call.key, Data: wire.AppendLong(nil, call.value), Version: call.version}
			b = append(b, request(int32(len(ops)), wire.OpSetData, set)...)
		} else {
			b = append(b, request(int32(len(ops)), wire.OpGetData, wire.PathWatch{Path: call.key})...)
		}
	}
	began := time.Now()
	r.write(b)
	for i := range ops {
		call := ops[i].Input.(registerCall)
		reply := registerReplyOf(r.read(), call)
		ops[i].Call, ops[i].Output, ops[i].Return = began.UnixNano(), reply, time.Now().UnixNano()
		if !reply.refused {
			seen[call.key] = reply.version
		}
	}
	return ops
}

func registerReplyOf(p packet, call registerCall) (reply registerReply) {
	if p.Err != wire.OK {
		return registerReply{refused: true}
	}
	var stat wire.Stat
	if !call.write {
		d := wire.NewDecoder(p.body.Bytes())
		reply.value = d.Long()
	}
	stat.Decode(&p.body)
	reply.version = stat.Version
	return reply
}

// TestHistoriesAreLinearizable checks that histories of concurrent clients are linearizable, and
// that the checker rejects a history in which a client reads a value that was overwritten before
// the read began.
func TestHistoriesAreLinearizable(t *testing.T) {
	ops := history(t, 6, 100)
	if !porcupine.CheckOperations(registers, ops) {
		t.Fatal("the history is not linearizable")
	}
	refused, first, last := 0, -1, -1
	for i, op := range ops {
		switch call, reply := op.Input.(registerCall), op.Output.(registerReply); {
		case reply.refused:
			refused++
		case !call.write && call.key == "/a" && (first < 0 || reply.version < ops[first].Output.(registerReply).version):
			first = i
		case !call.write && call.key == "/a" && (last < 0 || reply.version > ops[last].Output.(registerReply).version):
			last = i
		}
	}
	if refused == 0 || first < 0 || last < 0 {
		t.Fatalf("%d writes refused, reads %d and %d: the clients tried too little", refused, first, last)
	}
	ops[last].Output = ops[first].Output
	if porcupine.CheckOperations(registers, ops) {
		t.Error("a history with a stale read passes")
	}
}
