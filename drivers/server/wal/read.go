package wal

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
)

// A batchReader reads the batches of a file in order.
type batchReader struct {
	heading
	from *bufio.Reader
	at   int64 // offset of the next batch in the file
	end  int64 // length of the file
	buf  []byte
}

// readBatches reads the heading and returns a reader for the file's batches.
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

// errBroken reports a batch that is not whole.
var errBroken = errors.New("damaged")

// read returns the body of the next batch, which must have the place. The body is valid until the
// next call. After the last batch read returns io.EOF; if the data is not a valid batch, it returns
// errBroken.
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

// broken returns errBroken for a file that ends too early, and other errors unchanged.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errBroken
	}
	return err
}
