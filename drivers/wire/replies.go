package wire

// A DataStat is the reply to getData.
type DataStat struct {
	Data []byte
	Stat Stat
}

// Decode reads the record. Data is not copied.
func (r *DataStat) Decode(d *Decoder) {
	r.Data = d.Bytes()
	r.Stat.Decode(d)
}

// Append appends the record to b.
func (r DataStat) Append(b []byte) []byte { return r.Stat.Append(AppendBytes(b, r.Data)) }

// A PathStat is the reply to create2.
type PathStat struct {
	Path string
	Stat Stat
}

// Decode reads the record.
func (r *PathStat) Decode(d *Decoder) {
	r.Path = d.String()
	r.Stat.Decode(d)
}

// Append appends the record to b.
func (r PathStat) Append(b []byte) []byte { return r.Stat.Append(AppendString(b, r.Path)) }

// Children is the reply to getChildren, with names without their parent, and to getEphemerals,
// with whole paths.
type Children struct{ Names []string }

// Decode reads the record.
func (r *Children) Decode(d *Decoder) { r.Names = decodeStrings(d) }

// Append appends the record to b.
func (r Children) Append(b []byte) []byte { return appendStrings(b, r.Names) }

// A ChildrenStat is the reply to getChildren2.
type ChildrenStat struct {
	Names []string
	Stat  Stat
}

// Decode reads the record.
func (r *ChildrenStat) Decode(d *Decoder) {
	r.Names = decodeStrings(d)
	r.Stat.Decode(d)
}

// Append appends the record to b.
func (r ChildrenStat) Append(b []byte) []byte { return r.Stat.Append(appendStrings(b, r.Names)) }

// An ACLStat is the reply to getACL.
type ACLStat struct {
	ACL  []ACL
	Stat Stat
}

// Decode reads the record. It reuses the memory of r.ACL.
func (r *ACLStat) Decode(d *Decoder) {
	r.ACL = decodeACLs(d, r.ACL[:0])
	r.Stat.Decode(d)
}

// Append appends the record to b.
func (r ACLStat) Append(b []byte) []byte { return r.Stat.Append(appendACLs(b, r.ACL)) }

// An Int is a reply that is only a number: getAllChildrenNumber, addWatch.
type Int struct{ Value int32 }

// Decode reads the record.
func (r *Int) Decode(d *Decoder) { r.Value = d.Int() }

// Append appends the record to b.
func (r Int) Append(b []byte) []byte { return AppendInt(b, r.Value) }

// WhoAmI is the reply to whoAmI: the identities that the server has for the connection.
type WhoAmI struct{ Clients []ClientInfo }

// A ClientInfo is an identity without its secret part.
type ClientInfo struct{ Scheme, User string }

// Decode reads the record.
func (r *WhoAmI) Decode(d *Decoder) {
	r.Clients = nil
	for range d.Len(8) {
		r.Clients = append(r.Clients, ClientInfo{d.String(), d.String()})
	}
}

// Append appends the record to b.
func (r WhoAmI) Append(b []byte) []byte {
	b = AppendInt(b, int32(len(r.Clients)))
	for _, c := range r.Clients {
		b = AppendString(AppendString(b, c.Scheme), c.User)
	}
	return b
}

// A WatcherEvent is a notification.
type WatcherEvent struct {
	Type  int32 // EventCreated and so on
	State int32 // StateConnected; servers send no other
	Path  string
}

// StateConnected is the State of every notification.
const StateConnected int32 = 3

// Decode reads the record.
func (r *WatcherEvent) Decode(d *Decoder) { r.Type, r.State, r.Path = d.Int(), d.Int(), d.String() }

// Append appends the record to b.
func (r WatcherEvent) Append(b []byte) []byte {
	return AppendString(AppendInt(AppendInt(b, r.Type), r.State), r.Path)
}
