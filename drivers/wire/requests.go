package wire

import "github.com/stampede-bench/stampede/drivers"

// A CreateRequest creates a node: create, create2, createContainer.
type CreateRequest struct {
	Path  string
	Data  []byte
	ACL   []ACL
	Flags int32 // FlagEphemeral and so on
}

// Flags of a CreateRequest. Those above FlagSequential are separate kinds of nodes.
const (
	FlagEphemeral     int32 = 1
	FlagSequential    int32 = 2
	FlagContainer     int32 = 4
	FlagTTL           int32 = 5
	FlagTTLSequential int32 = 6
)

// Decode reads the record. It does not copy Data, and reuses the memory of r.ACL.
func (r *CreateRequest) Decode(d *Decoder) {
	r.Path, r.Data = d.Path(), d.Bytes()
	r.ACL = decodeACLs(d, r.ACL[:0])
	r.Flags = d.Int()
}

// Append appends the record to b.
func (r CreateRequest) Append(b []byte) []byte {
	b = AppendBytes(AppendString(b, r.Path), r.Data)
	return AppendInt(appendACLs(b, r.ACL), r.Flags)
}

// A CreateTTLRequest creates a node that the server deletes when it has had no children and no
// write for TTL milliseconds.
type CreateTTLRequest struct {
	CreateRequest // with FlagTTL or FlagTTLSequential
	TTL           int64
}

// Decode reads the record. It does not copy Data, and reuses the memory of r.ACL.
func (r *CreateTTLRequest) Decode(d *Decoder) {
	r.CreateRequest.Decode(d)
	r.TTL = d.Long()
}

// Append appends the record to b.
func (r CreateTTLRequest) Append(b []byte) []byte {
	return AppendLong(r.CreateRequest.Append(b), r.TTL)
}

// A SetDataRequest writes a node that has the version; −1 matches any version.
type SetDataRequest struct {
	Path    string
	Data    []byte
	Version int32
}

// Decode reads the record. Data is not copied.
func (r *SetDataRequest) Decode(d *Decoder) {
	r.Path, r.Data, r.Version = d.Path(), d.Bytes(), d.Int()
}

// Append appends the record to b.
func (r SetDataRequest) Append(b []byte) []byte {
	return AppendInt(AppendBytes(AppendString(b, r.Path), r.Data), r.Version)
}

// A SetACLRequest sets the access list of a node whose aversion matches.
type SetACLRequest struct {
	Path    string
	ACL     []ACL
	Version int32
}

// Decode reads the record. It reuses the memory of r.ACL.
func (r *SetACLRequest) Decode(d *Decoder) {
	r.Path = d.Path()
	r.ACL = decodeACLs(d, r.ACL[:0])
	r.Version = d.Int()
}

// Append appends the record to b.
func (r SetACLRequest) Append(b []byte) []byte {
	return AppendInt(appendACLs(AppendString(b, r.Path), r.ACL), r.Version)
}

// A Path is a record that is only a path: requests to getACL, sync, getEphemerals,
// getAllChildrenNumber and deleteContainer, replies to create and sync.
type Path struct{ Path string }

// Decode reads the record.
func (r *Path) Decode(d *Decoder) { r.Path = d.Path() }

// Append appends the record to b.
func (r Path) Append(b []byte) []byte { return AppendString(b, r.Path) }

// A PathWatch reads a node and, with Watch, arms a watch for its next change: exists, getData,
// getChildren, getChildren2.
type PathWatch struct {
	Path  string
	Watch bool
}

// Decode reads the record.
func (r *PathWatch) Decode(d *Decoder) { r.Path, r.Watch = d.Path(), d.Bool() }

// Append appends the record to b.
func (r PathWatch) Append(b []byte) []byte { return AppendBool(AppendString(b, r.Path), r.Watch) }

// A PathVersion names a node that has the version; −1 matches any version: delete, check.
type PathVersion struct {
	Path    string
	Version int32
}

// Decode reads the record.
func (r *PathVersion) Decode(d *Decoder) { r.Path, r.Version = d.Path(), d.Int() }

// Append appends the record to b.
func (r PathVersion) Append(b []byte) []byte { return AppendInt(AppendString(b, r.Path), r.Version) }

// A ReconfigRequest changes the members of an ensemble.
type ReconfigRequest struct {
	Joining, Leaving, Members string
	ConfigID                  int64
}

// Decode reads the record.
func (r *ReconfigRequest) Decode(d *Decoder) {
	r.Joining, r.Leaving, r.Members, r.ConfigID = d.String(), d.String(), d.String(), d.Long()
}

// Append appends the record to b.
func (r ReconfigRequest) Append(b []byte) []byte {
	b = AppendString(AppendString(AppendString(b, r.Joining), r.Leaving), r.Members)
	return AppendLong(b, r.ConfigID)
}

// An AuthRequest adds credentials to a connection.
type AuthRequest struct {
	Type   int32
	Scheme string
	Auth   []byte
}

// Decode reads the record. Auth is not copied.
func (r *AuthRequest) Decode(d *Decoder) { r.Type, r.Scheme, r.Auth = d.Int(), d.String(), d.Bytes() }

// Append appends the record to b.
func (r AuthRequest) Append(b []byte) []byte {
	return AppendBytes(AppendString(AppendInt(b, r.Type), r.Scheme), r.Auth)
}

// A MultiHeader precedes every operation of a multi and each of its results. A header with
// Done ends them.
type MultiHeader struct {
	Type int32 // opcode; in a result of a multi that failed, MultiError
	Done bool
	Err  Err
}

// MultiError is the Type of a result that is an error code.
const MultiError int32 = -1

// MultiEnd returns the header that ends the operations of a multi, or its results.
func MultiEnd() MultiHeader { return MultiHeader{Type: MultiError, Done: true, Err: -1} }

// Decode reads the header.
func (h *MultiHeader) Decode(d *Decoder) { h.Type, h.Done, h.Err = d.Int(), d.Bool(), Err(d.Int()) }

// Append appends the header to b.
func (h MultiHeader) Append(b []byte) []byte {
	return AppendInt(AppendBool(AppendInt(b, h.Type), h.Done), int32(h.Err))
}

// A SetWatchesRequest arms watches again after a reconnect. A watch fires immediately if its
// node has changed since RelativeZxid.
type SetWatchesRequest struct {
	RelativeZxid int64
	Data         []string // armed by getData, or by exists on a node that existed
	Exist        []string // armed by exists on a node that was missing
	Child        []string
}

// Decode reads the record.
func (r *SetWatchesRequest) Decode(d *Decoder) {
	r.RelativeZxid = d.Long()
	r.Data, r.Exist, r.Child = decodeStrings(d), decodeStrings(d), decodeStrings(d)
}

// Append appends the record to b.
func (r SetWatchesRequest) Append(b []byte) []byte {
	b = AppendLong(b, r.RelativeZxid)
	return appendStrings(appendStrings(appendStrings(b, r.Data), r.Exist), r.Child)
}

// A SetWatches2Request also arms persistent watches again. These do not fire for missed
// changes.
type SetWatches2Request struct {
	SetWatchesRequest
	Persistent []string // of AddWatchPersistent
	Recursive  []string // of AddWatchRecursive
}

// Decode reads the record.
func (r *SetWatches2Request) Decode(d *Decoder) {
	r.SetWatchesRequest.Decode(d)
	r.Persistent, r.Recursive = decodeStrings(d), decodeStrings(d)
}

// Append appends the record to b.
func (r SetWatches2Request) Append(b []byte) []byte {
	return appendStrings(appendStrings(r.SetWatchesRequest.Append(b), r.Persistent), r.Recursive)
}

// Parts returns the watches that the request arms again, each as the operation that armed it.
func (r SetWatches2Request) Parts() (parts []drivers.TxnOp) {
	add := func(op drivers.Op, paths []string) {
		for _, path := range paths {
			parts = append(parts, drivers.TxnOp{Op: op, Path: []byte(path)})
		}
	}
	add(drivers.OpGet, r.Data)
	add(drivers.OpExists, r.Exist)
	add(drivers.OpChildren, r.Child)
	add(drivers.OpWatchNode, r.Persistent)
	add(drivers.OpWatchTree, r.Recursive)
	return parts
}

// An AddWatchRequest arms a persistent watch.
type AddWatchRequest struct {
	Path string
	Mode int32 // AddWatchPersistent or AddWatchRecursive
}

// Modes of an AddWatchRequest.
const (
	AddWatchPersistent int32 = 0 // the node and the names of its children
	AddWatchRecursive  int32 = 1 // the node and all nodes below it, but no child lists
)

// Decode reads the record.
func (r *AddWatchRequest) Decode(d *Decoder) { r.Path, r.Mode = d.String(), d.Int() }

// Append appends the record to b.
func (r AddWatchRequest) Append(b []byte) []byte { return AppendInt(AppendString(b, r.Path), r.Mode) }

// A PathWatcher names watches of this connection: checkWatches, removeWatches.
type PathWatcher struct {
	Path string
	Type int32 // WatcherChildren and so on
}

// Types of a PathWatcher. Those of persistent watches came with ZooKeeper 3.9.
const (
	WatcherChildren   int32 = 1
	WatcherData       int32 = 2
	WatcherAny        int32 = 3
	WatcherPersistent int32 = 4
	WatcherRecursive  int32 = 5
)

// Decode reads the record.
func (r *PathWatcher) Decode(d *Decoder) { r.Path, r.Type = d.String(), d.Int() }

// Append appends the record to b.
func (r PathWatcher) Append(b []byte) []byte { return AppendInt(AppendString(b, r.Path), r.Type) }

// A WatchKind is a kind of one-shot watch on the server, or a set of kinds. A
// [SetWatchesRequest] has a list of paths for each kind.
type WatchKind uint8

// Kinds of watches.
const (
	DataWatch  WatchKind = 1 << iota // of a node that exists
	ExistWatch                       // of a node that does not exist
	ChildWatch
)

// FiredBy returns the kinds of watches that a change fires. Clients have to agree with the
// server about this: after a reconnect, the client arms the watches that have not fired.
func FiredBy(e drivers.EventType) WatchKind {
	switch e {
	case drivers.Created:
		return ExistWatch
	case drivers.DataChanged:
		return ExistWatch | DataWatch
	case drivers.ChildrenChanged:
		return ChildWatch
	case drivers.Deleted:
		return ExistWatch | DataWatch | ChildWatch
	}
	return 0
}
