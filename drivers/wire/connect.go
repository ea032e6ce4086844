package wire

// PasswordSize is the length in bytes of a session's password.
const PasswordSize = 16

// A ConnectRequest opens a session, or resumes it if SessionID is not 0.
type ConnectRequest struct {
	Protocol  int32
	LastZxid  int64 // the highest zxid the client has seen
	Timeout   int32 // of the session, in milliseconds
	SessionID int64
	Password  []byte
	ReadOnly  ReadOnly
}

// A ConnectResponse is the reply to a ConnectRequest. For a session that no longer exists it
// has timeout 0, id 0 and a password of zeros.
type ConnectResponse struct {
	Protocol  int32
	Timeout   int32 // as granted, in milliseconds
	SessionID int64
	Password  []byte
	ReadOnly  ReadOnly
}

// ReadOnly is the flag at the end of both records. Old clients omit it, and then the server
// omits it too.
type ReadOnly struct {
	Present bool
	Value   bool
}

func (r *ReadOnly) decode(d *Decoder) {
	*r = ReadOnly{}
	if len(d.Rest()) > 0 {
		r.Present, r.Value = true, d.Bool()
	}
}

func (r ReadOnly) append(b []byte) []byte {
	if !r.Present {
		return b
	}
	return AppendBool(b, r.Value)
}

// Decode reads the record. Password is not copied.
func (r *ConnectRequest) Decode(d *Decoder) {
	r.Protocol, r.LastZxid, r.Timeout = d.Int(), d.Long(), d.Int()
	r.SessionID, r.Password = d.Long(), d.Bytes()
	r.ReadOnly.decode(d)
}

// Append appends the record to b.
func (r ConnectRequest) Append(b []byte) []byte {
	b = AppendLong(AppendInt(b, r.Protocol), r.LastZxid)
	b = AppendLong(AppendInt(b, r.Timeout), r.SessionID)
	return r.ReadOnly.append(AppendBytes(b, r.Password))
}

// Decode reads the record. Password is not copied.
func (r *ConnectResponse) Decode(d *Decoder) {
	r.Protocol, r.Timeout, r.SessionID, r.Password = d.Int(), d.Int(), d.Long(), d.Bytes()
	r.ReadOnly.decode(d)
}

// Append appends the record to b.
func (r ConnectResponse) Append(b []byte) []byte {
	b = AppendInt(AppendInt(b, r.Protocol), r.Timeout)
	return r.ReadOnly.append(AppendBytes(AppendLong(b, r.SessionID), r.Password))
}
