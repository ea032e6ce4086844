package lean

import (
	"bytes"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// appendRecord appends the request's record after its header.
func (k *call) appendRecord(b []byte, acl []wire.ACL) []byte {
	switch k.code {
	case wire.OpCreate:
		return wire.CreateRequest{Path: k.server, Data: k.data, ACL: acl, Flags: int32(k.mode)}.Append(b)
	case wire.OpDelete:
		return wire.PathVersion{Path: k.server, Version: k.version}.Append(b)
	case wire.OpSetData:
		return wire.SetDataRequest{Path: k.server, Data: k.data, Version: k.version}.Append(b)
	case wire.OpExists, wire.OpGetData, wire.OpGetChildren:
		return wire.PathWatch{Path: k.server, Watch: k.arms}.Append(b)
	case wire.OpSync:
		return wire.Path{Path: k.server}.Append(b)
	case wire.OpAddWatch:
		return wire.AddWatchRequest{Path: k.server, Mode: k.version}.Append(b)
	case wire.OpRemoveWatches:
		return wire.PathWatcher{Path: k.server, Type: wire.WatcherAny}.Append(b)
	}
	return append(b, k.data...) // already encoded
}

// decode reads the reply's record after its header. It keeps copies.
func (k *call) decode(d *wire.Decoder) error {
	if k.answer != wire.OK {
		return nil
	}
	switch k.code {
	case wire.OpCreate:
		path := d.Bytes()
		k.name = string(path[bytes.LastIndexByte(path, '/')+1:])
	case wire.OpGetData:
		k.bytes = bytes.Clone(d.Bytes())
		k.stat = stat(d)
	case wire.OpSetData, wire.OpExists:
		k.stat = stat(d)
	case wire.OpGetChildren:
		k.children = children(d)
	}
	return d.Err()
}
