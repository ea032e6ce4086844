package wire

import (
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

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

// Opcodes of requests.
const (
	OpNotify          int32 = 0
	OpCreate          int32 = 1
	OpDelete          int32 = 2
	OpExists          int32 = 3
	OpGetData         int32 = 4
	OpSetData         int32 = 5
	OpGetACL          int32 = 6
	OpSetACL          int32 = 7
	OpGetChildren     int32 = 8
	OpSync            int32 = 9
	OpPing            int32 = 11
	OpGetChildren2    int32 = 12
	OpCheck           int32 = 13
	OpMulti           int32 = 14
	OpCreate2         int32 = 15
	OpReconfig        int32 = 16
	OpCheckWatches    int32 = 17
	OpRemoveWatches   int32 = 18
	OpCreateContainer int32 = 19
	OpDeleteContainer int32 = 20
	OpCreateTTL       int32 = 21
	OpMultiRead       int32 = 22
	OpAuth            int32 = 100
	OpSetWatches      int32 = 101
	OpSASL            int32 = 102
	OpGetEphemerals   int32 = 103
	OpAllChildrenNum  int32 = 104
	OpSetWatches2     int32 = 105
	OpAddWatch        int32 = 106
	OpWhoAmI          int32 = 107
	OpCreateSession   int32 = -10
	OpCloseSession    int32 = -11
)

// Xids with a special meaning. The auth and set-watches xids are those of the Java client.
// Other clients use ordinary ones, so a server echoes the xid that it receives.
const (
	XidNotification int32 = -1
	XidPing         int32 = -2
	XidAuth         int32 = -4
	XidSetWatches   int32 = -8
)

// An Err is the error code of a reply; 0 is success.
type Err int32

// Error codes.
const (
	OK                         Err = 0
	ErrSystem                  Err = -1
	ErrRuntimeInconsistency    Err = -2 // in a multi: not tried, since an earlier operation failed
	ErrMarshalling             Err = -5
	ErrUnimplemented           Err = -6
	ErrOperationTimeout        Err = -7
	ErrBadArguments            Err = -8
	ErrNoNode                  Err = -101
	ErrNoAuth                  Err = -102
	ErrBadVersion              Err = -103
	ErrNoChildrenForEphemerals Err = -108
	ErrNodeExists              Err = -110
	ErrNotEmpty                Err = -111
	ErrSessionExpired          Err = -112
	ErrInvalidCallback         Err = -113
	ErrInvalidACL              Err = -114
	ErrAuthFailed              Err = -115
	ErrSessionMoved            Err = -118
	ErrNotReadOnly             Err = -119
	ErrNoWatcher               Err = -121
	ErrReconfigDisabled        Err = -123
)

// Types of notifications.
const (
	EventCreated         int32 = 1
	EventDeleted         int32 = 2
	EventDataChanged     int32 = 3
	EventChildrenChanged int32 = 4
)

// MaxPacket is ZooKeeper's default jute.maxbuffer, the largest payload in bytes.
const MaxPacket = 0xfffff

// mostPacket is a length in bytes that no packet has, however the limit is set: bytes that begin with more
// are no packet.
const mostPacket = 1 << 28

// EventOf returns a notification's type in the terms of the contract, or 0 if it is no change
// of a node.
func EventOf(code int32) drivers.EventType {
	switch code {
	case EventCreated:
		return drivers.Created
	case EventDeleted:
		return drivers.Deleted
	case EventDataChanged:
		return drivers.DataChanged
	case EventChildrenChanged:
		return drivers.ChildrenChanged
	}
	return 0
}

// Sentinel returns the contract's error, as a [drivers.Message] has it: nil for success,
// ErrUnsupported if the contract has none for it.
func (e Err) Sentinel() error {
	switch e {
	case OK:
		return nil
	case ErrNoNode:
		return drivers.ErrNoNode
	case ErrNodeExists:
		return drivers.ErrNodeExists
	case ErrBadVersion:
		return drivers.ErrBadVersion
	case ErrNotEmpty:
		return drivers.ErrNotEmpty
	case ErrNoChildrenForEphemerals:
		return drivers.ErrNoChildrenForEphemerals
	case ErrSessionExpired:
		return drivers.ErrSessionLost
	case ErrSessionMoved:
		return drivers.ErrConnectionLoss
	case ErrNoAuth, ErrAuthFailed, ErrInvalidACL:
		return drivers.ErrRefused
	}
	return drivers.ErrUnsupported
}

func (e Err) Error() string { return fmt.Sprintf("server error %d", int32(e)) }
