package wire

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
