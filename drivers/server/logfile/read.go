package logfile

import (
	"bufio"
	"errors"
	"io"
	"math"
	"os"
	"slices"
)

// A Reader reads the batches of a file in order.
type Reader struct {
	Heading
	from *bufio.Reader
	at   int64 // offset of the next batch in the file
	end  int64 // length of the file, or the largest number if it is unknown
	buf  []byte
}

// ReadFile reads the heading of a file and returns a reader for its batches.
func ReadFile(f *os.File, format Format) (*Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return newReader(f, info.Size(), format)
}

// ReadStream reads the heading of a file that arrives from elsewhere, and returns a reader for its
// batches. Unless r is a bufio.Reader with a buffer of at least 64 KiB, it may read behind the file.
func ReadStream(r io.Reader, format Format) (*Reader, error) {
	return newReader(r, math.MaxInt64, format)
}

func newReader(from io.Reader, end int64, format Format) (_ *Reader, err error) {
	r := &Reader{from: bufio.NewReaderSize(from, 64<<10), end: end}
	if r.Heading, err = readHeading(r.from, format); err != nil {
		return nil, err
	}
	r.at = int64(len(r.Bytes))
	return r, nil
}

// At returns the offset of the next batch in the file.
func (r *Reader) At() int64 { return r.at }

// Batch returns the last batch that was read, with its header.
func (r *Reader) Batch() []byte { return r.buf }

// ErrBroken reports a batch that is not whole.
var ErrBroken = errors.New("damaged")

// Next returns the body of the next batch, which must have the place. The body is valid until the
// next call. After the last batch Next returns io.EOF; if the data is not a valid batch, it returns
// ErrBroken.
func (r *Reader) Next(place int64) ([]byte, error) {
	if r.at == r.end {
		return nil, io.EOF
	}
	header, err := r.from.Peek(HeaderLength)
	if err != nil {
		return nil, broken(err)
	}
	length := HeaderLength + bodyLength(header)
	if length > r.end-r.at {
		return nil, ErrBroken
	}
	if err := r.fill(int(length)); err != nil {
		return nil, broken(err)
	}
	body, ok := r.Frame.whole(r.buf, place)
	if !ok {
		return nil, ErrBroken
	}
	r.at += length
	return body, nil
}

// grownAtOnce is the number of bytes by which the buffer grows for a stream, whose header may claim
// any length.
const grownAtOnce = 4 << 20

// fill reads the buffer's next contents.
func (r *Reader) fill(length int) error {
	r.buf = r.buf[:0]
	for len(r.buf) < length {
		n := length - len(r.buf)
		if r.end == math.MaxInt64 {
			n = min(n, grownAtOnce)
		}
		had := len(r.buf)
		r.buf = slices.Grow(r.buf, n)[:had+n]
		if _, err := io.ReadFull(r.from, r.buf[had:]); err != nil {
			return err
		}
	}
	return nil
}

// broken returns ErrBroken for a file that ends too early, and other errors unchanged.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrBroken
	}
	return err
}
