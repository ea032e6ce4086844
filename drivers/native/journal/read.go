package journal

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
)

// A batchReader reads the batches of a file, one after the other.
type batchReader struct {
	heading
	from *bufio.Reader
	at   int64 // where in the file the next batch begins
	end  int64 // of the file
	buf  []byte
}

// readBatches returns the reader of a file's batches, behind the heading.
func readBatches(f *os.File, kind string) (*batchReader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := &batchReader{from: bufio.NewReaderSize(f, 64<<10), end: info.Size()}
	if r.heading, err = readHeading(r.from, kind); err != nil {
		return nil, err
	}
	r.at = int64(len(r.bytes))
	return r, nil
}

// errBroken is a batch that is not whole.
var errBroken = errors.New("damaged")

// read returns the body of the next batch, which has the place. It is valid until
// the next call. After the last one it returns io.EOF, and where there is
// something else than a batch errBroken.
func (r *batchReader) read(place int64) ([]byte, error) {
	if r.at == r.end {
		return nil, io.EOF
	}
	header, err := r.from.Peek(r.frame.header)
	if err != nil {
		return nil, broken(err)
	}
	length := int64(r.frame.header) + bodyLength(header)
	if length > r.end-r.at {
		return nil, errBroken
	}
	r.buf = slices.Grow(r.buf[:0], int(length))[:length]
	if _, err := io.ReadFull(r.from, r.buf); err != nil {
		return nil, broken(err)
	}
	body, ok := r.frame.whole(r.buf, place)
	if !ok {
		return nil, errBroken
	}
	r.at += length
	return body, nil
}

// broken is errBroken where a file ends too early.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errBroken
	}
	return err
}
