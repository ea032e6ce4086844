package lean

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// SetAll sets several nodes in one multi.
func (c *Conn) SetAll(ctx context.Context, sets []drivers.Call) ([]drivers.Stat, error) {
	k, err := c.do(ctx, c.transaction(sets))
	if err != nil {
		return nil, err
	}
	defer c.free(k)
	return k.stats, nil
}

// transaction encodes a multi.
func (c *Conn) transaction(sets []drivers.Call) request {
	r := request{op: drivers.OpMulti, code: wire.OpMulti, path: sets[0].Path, parts: make([]drivers.TxnOp, len(sets))}
	size := 0
	for _, s := range sets {
		size += len(s.Path) + len(s.Data) + 64
	}
	r.data = make([]byte, 0, size)
	for i, s := range sets {
		if !valid(s.Path) {
			r.path = s.Path // which the call is refused for
		}
		server := c.ensemble.Path(s.Path)
		r.data = wire.MultiHeader{Type: wire.OpSetData, Err: -1}.Append(r.data)
		r.data = wire.SetDataRequest{Path: server, Data: s.Data, Version: s.Version}.Append(r.data)
		r.parts[i] = drivers.TxnOp{Op: drivers.OpSet, Path: []byte(server)}
	}
	r.data = wire.MultiEnd().Append(r.data)
	return r
}

// decodeTransaction reads the results of the parts. If one failed, its error is the answer to the call.
func (k *call) decodeTransaction(d *wire.Decoder) {
	k.stats = make([]drivers.Stat, len(k.parts))
	for i := range k.parts {
		if k.answer != wire.OK {
			break
		}
		var h wire.MultiHeader
		if h.Decode(d); h.Type == wire.MultiError {
			k.answer = wire.Err(d.Int())
			k.parts[i].Err = k.answer.Sentinel()
		} else {
			k.stats[i] = stat(d)
		}
	}
	for i := range k.parts { // those before the one that failed were undone, those after it not tried
		if k.answer != wire.OK && k.parts[i].Err == nil {
			k.parts[i].Err = drivers.ErrUnsupported
		}
	}
}
