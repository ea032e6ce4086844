package logfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// A Replay is what reading the logs of a directory has found.
type Replay struct {
	Next   int64 // the place of the batch that should follow
	Length int64 // bytes read from all logs
	Frame  Frame // of the newest log
	// Copy is the copy of the newest log's whole batches, under its temporary name: Directory.Adopt
	// replaces the log with it.
	Copy File
	Size int64 // length of the copy in bytes

	dir    *Directory
	format Format
	apply  Apply
}

// Apply takes the body of a batch. It returns the place of the next batch.
type Apply func(place int64, body []byte) (next int64, err error)

// Replay passes the batches of the logs, which must be at least one, to apply. It drops an incomplete
// batch at the end of the newest log. It fails if a log is missing or damaged, and then leaves no copy.
func (d *Directory) Replay(logs []Name, format Format, apply Apply) (*Replay, error) {
	r := &Replay{dir: d, format: format, apply: apply}
	if err := r.all(logs); err != nil {
		return nil, errors.Join(err, r.Drop())
	}
	return r, nil
}

// Drop removes the copy.
func (r *Replay) Drop() error {
	if r.Copy == nil {
		return nil
	}
	return errors.Join(r.Copy.Close(), r.dir.RemoveUnfinished())
}

func (r *Replay) all(logs []Name) error {
	for i, l := range logs {
		if i > 0 && l.Place != r.Next {
			return fmt.Errorf("%s: %s %d should follow, which is missing", logs[i-1].Path, r.format.Place, r.Next)
		}
		r.Next = l.Place
		if err := r.open(l.Path, i == len(logs)-1); err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
	}
	return nil
}

func (r *Replay) open(path string, newest bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := ReadFile(f, r.format)
	if err != nil {
		return err
	}
	if newest {
		return r.newest(path, f, b)
	}
	return r.file(f, b, false, io.Discard)
}

// newest replays the newest log and copies the whole batches.
func (r *Replay) newest(path string, f *os.File, b *Reader) (err error) {
	if r.Copy, err = r.dir.Begin(path, b.Bytes); err != nil {
		return err
	}
	to := bufio.NewWriterSize(r.Copy, 1<<20)
	if err := r.file(f, b, true, to); err != nil {
		return err
	}
	r.Size, r.Frame = b.at, b.Frame
	return to.Flush()
}

// file replays a log and copies its batches to to.
func (r *Replay) file(f *os.File, b *Reader, newest bool, to io.Writer) error {
	err := r.batches(b, to)
	r.Length += b.at
	switch {
	case err == io.EOF:
		return nil
	case err == ErrBroken && newest:
		return r.tail(f, b)
	case err == ErrBroken:
		return r.damaged(b.at, "with more behind it")
	}
	return err
}

// batches applies the batches up to an error or io.EOF.
func (r *Replay) batches(b *Reader, to io.Writer) error {
	for {
		body, err := b.Next(r.Next)
		if err != nil {
			return err
		}
		r.Next, err = r.apply(r.Next, body)
		if err == nil {
			_, err = to.Write(b.buf)
		}
		if err != nil {
			return err
		}
	}
}

// tail checks the data behind the last whole batch. It fails unless an interrupted write explains that data.
func (r *Replay) tail(f *os.File, b *Reader) error {
	if _, err := f.Seek(b.at, io.SeekStart); err != nil {
		return err
	}
	rest, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	switch {
	case b.Frame.anywhere(rest, r.Next):
		return r.damaged(b.at, "with more behind it")
	case !b.Frame.torn(rest, b.at, r.Next):
		return r.damaged(b.at, "which is all there and was confirmed")
	}
	return nil
}

// A disk writes blocks of at least this many bytes whole or not at all. Their length is a power of two. A block of a
// file that has grown and was not written reads as zeros.
const block = 64

// torn reports whether an interrupted write of the batch of a place can have left the bytes b at an offset of the file.
// Otherwise the whole batch was written, and it has changed since.
func (f Frame) torn(b []byte, at, place int64) bool {
	if len(b) < HeaderLength || PlaceOf(b) == place && f.markOf(b) && HeaderLength+bodyLength(b) > int64(len(b)) {
		return true // it ends too early
	}
	for from := 0; from < len(b); {
		to := min(from+block-int(at+int64(from))%block, len(b))
		if !slices.ContainsFunc(b[from:to], func(c byte) bool { return c != 0 }) {
			return true
		}
		from = to
	}
	return false
}

func (r *Replay) damaged(at int64, why string) error {
	return fmt.Errorf("damaged at byte %d, behind %s %d, %s: %s", at, r.format.Place, r.Next-1, why, r.format.Cure)
}

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

// Offset returns the offset of the next batch in the file.
func (r *Reader) Offset() int64 { return r.at }

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
