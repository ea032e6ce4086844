package wire

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
