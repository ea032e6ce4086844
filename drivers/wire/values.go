package wire

// StatSize is the length of a Stat in bytes.
const StatSize = 68

// A Stat is the metadata of a node. Times are in milliseconds since 1970.
type Stat struct {
	Czxid          int64 // of the write that created the node
	Mzxid          int64 // of the last write to its data
	Ctime          int64
	Mtime          int64
	Version        int32 // changes to the data
	Cversion       int32 // changes to the children
	Aversion       int32 // changes to the access list
	EphemeralOwner int64 // session, or 0
	DataLength     int32
	NumChildren    int32
	Pzxid          int64 // of the last write that created or deleted a child
}

// Decode reads the record.
func (s *Stat) Decode(d *Decoder) {
	s.Czxid, s.Mzxid, s.Ctime, s.Mtime = d.Long(), d.Long(), d.Long(), d.Long()
	s.Version, s.Cversion, s.Aversion = d.Int(), d.Int(), d.Int()
	s.EphemeralOwner = d.Long()
	s.DataLength, s.NumChildren = d.Int(), d.Int()
	s.Pzxid = d.Long()
}

// Append appends the record to b.
func (s Stat) Append(b []byte) []byte {
	b = AppendLong(AppendLong(b, s.Czxid), s.Mzxid)
	b = AppendLong(AppendLong(b, s.Ctime), s.Mtime)
	b = AppendInt(AppendInt(AppendInt(b, s.Version), s.Cversion), s.Aversion)
	b = AppendLong(b, s.EphemeralOwner)
	b = AppendInt(AppendInt(b, s.DataLength), s.NumChildren)
	return AppendLong(b, s.Pzxid)
}

// An ACL grants permissions to an identity.
type ACL struct {
	Perms  int32 // PermAll is all of them
	Scheme string
	ID     string
}

// Permissions; the bits combine.
const (
	PermRead   int32 = 1 << iota // the data, and the names of the children
	PermWrite                    // the data
	PermCreate                   // children
	PermDelete                   // children
	PermAdmin                    // set the access list
	PermAll    = PermRead | PermWrite | PermCreate | PermDelete | PermAdmin
)

const (
	world  = "world"
	anyone = "anyone"
)

// OpenACL returns an access list that gives everyone all permissions.
func OpenACL() ACL { return ACL{Perms: PermAll, Scheme: world, ID: anyone} }

func decodeACLs(d *Decoder, into []ACL) []ACL {
	for range d.Len(12) {
		into = append(into, ACL{d.Int(), decodeName(d), decodeName(d)})
	}
	return into
}

// decodeName reads a string. It does not allocate for the strings that nearly every access
// list consists of.
func decodeName(d *Decoder) string {
	switch b := d.Bytes(); string(b) {
	case world:
		return world
	case anyone:
		return anyone
	default:
		return string(b)
	}
}

func appendACLs(b []byte, acls []ACL) []byte {
	b = AppendInt(b, int32(len(acls)))
	for _, a := range acls {
		b = AppendString(AppendString(AppendInt(b, a.Perms), a.Scheme), a.ID)
	}
	return b
}

func decodeStrings(d *Decoder) []string {
	n := d.Len(4)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.String()
	}
	return list
}

func appendStrings(b []byte, list []string) []byte {
	b = AppendInt(b, int32(len(list)))
	for _, s := range list {
		b = AppendString(b, s)
	}
	return b
}
