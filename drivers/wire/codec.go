package wire

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed reports a payload that ends too early or has an impossible length.
var ErrMalformed = errors.New("malformed packet")

// A Decoder reads jute values from a payload. After the first malformed value every read
// returns zero and Err returns an error, so a record can be decoded completely and checked
// once. The zero Decoder has an empty payload.
type Decoder struct {
	rest   []byte
	bad    bool
	noPath bool
}

// NewDecoder returns a decoder of payload, which it does not copy.
func NewDecoder(payload []byte) Decoder { return Decoder{rest: payload} }

// Err returns ErrMalformed if a read went past the end or met a bad length.
func (d *Decoder) Err() error {
	if d.bad {
		return ErrMalformed
	}
	return nil
}

// Rest returns what has not been read yet.
func (d *Decoder) Rest() []byte { return d.rest }

func (d *Decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.rest) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// Int reads an int32.
func (d *Decoder) Int() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Long reads an int64.
func (d *Decoder) Long() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Bool reads a boolean.
func (d *Decoder) Bool() bool { return d.Byte() != 0 }

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Bytes reads a buffer or string without copying it; null is nil.
func (d *Decoder) Bytes() []byte {
	n := d.Int()
	if n == -1 {
		return nil
	}
	return d.take(int(n))
}

// String reads a string; null is "".
func (d *Decoder) String() string { return string(d.Bytes()) }

// Path reads a path; null is "", which is the root, and NoPath tells them apart.
func (d *Decoder) Path() string {
	b := d.Bytes()
	d.noPath = d.noPath || b == nil && !d.bad
	return string(b)
}

// NoPath reports whether a path was null, on which most of ZooKeeper's requests fail with ErrMarshalling.
func (d *Decoder) NoPath() bool { return d.noPath }

// Len reads the length of a vector whose elements take at least min bytes each; null is 0. A
// length that exceeds the rest of the payload is malformed, so that a caller never allocates
// what a hostile packet claims.
func (d *Decoder) Len(min int) int {
	n := int(d.Int())
	if n == -1 {
		return 0
	}
	if n < 0 || n > len(d.rest)/min {
		d.bad = true
		return 0
	}
	return n
}

// The Append functions append a jute value to b.

func AppendInt(b []byte, v int32) []byte  { return binary.BigEndian.AppendUint32(b, uint32(v)) }
func AppendLong(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }

func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendBytes appends a buffer; nil is null.
func AppendBytes(b, v []byte) []byte {
	if v == nil {
		return AppendInt(b, -1)
	}
	return append(AppendInt(b, int32(len(v))), v...)
}

func AppendString(b []byte, v string) []byte { return append(AppendInt(b, int32(len(v))), v...) }

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
