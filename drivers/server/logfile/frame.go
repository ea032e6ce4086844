package logfile

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// The offsets of the fields in a batch's header, in bytes. The length field is that of the body, and
// the checksum covers everything behind it. The mark is the file's mark.
const (
	checksumAt = 4
	placeAt    = 8
	markAt     = 16

	// HeaderLength is the length of a batch's header in bytes.
	HeaderLength = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Frame encodes and checks the batches of one file.
type Frame struct{ mark uint64 }

// BeginBatch appends the header of a batch. Frame.End completes it when the body is behind it.
func BeginBatch(b []byte, place int64) []byte {
	b = append(b, make([]byte, HeaderLength)...)
	binary.BigEndian.PutUint64(b[len(b)-HeaderLength+placeAt:], uint64(place))
	return b
}

// End completes the header of the batch b.
func (f Frame) End(b []byte) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-HeaderLength))
	binary.BigEndian.PutUint64(b[markAt:], f.mark)
	binary.BigEndian.PutUint32(b[checksumAt:], checksum(b))
}

// whole returns the body of the batch at the start of b, which must have the place. It returns
// false if there is no whole batch.
func (f Frame) whole(b []byte, place int64) (body []byte, ok bool) {
	if len(b) < HeaderLength || PlaceOf(b) != place || !f.markOf(b) {
		return nil, false
	}
	length := bodyLength(b)
	if length == 0 || length > int64(len(b)-HeaderLength) {
		return nil, false
	}
	b = b[:HeaderLength+length]
	return b[HeaderLength:], binary.BigEndian.Uint32(b[checksumAt:]) == checksum(b)
}

// markOf reports whether the batch b has the file's mark.
func (f Frame) markOf(b []byte) bool { return binary.BigEndian.Uint64(b[markAt:]) == f.mark }

// anywhere reports whether the log contains a whole batch at any offset. The place of such a batch
// is at least next, and at most next plus the number of bytes before it: no step of the places takes
// less than a byte.
func (f Frame) anywhere(log []byte, next int64) bool {
	for skipped := int64(0); len(log) >= HeaderLength; skipped++ {
		if place := PlaceOf(log); place >= next && place <= next+skipped {
			if _, ok := f.whole(log, place); ok {
				return true
			}
		}
		log = log[1:]
	}
	return false
}

// PlaceOf returns the place of the batch b.
func PlaceOf(b []byte) int64 { return int64(binary.BigEndian.Uint64(b[placeAt:])) }

func bodyLength(b []byte) int64 { return int64(binary.BigEndian.Uint32(b)) }
func checksum(b []byte) uint32  { return crc32.Checksum(b[placeAt:], castagnoli) }

// SetPlace changes the place of the batch b.
func SetPlace(b []byte, place int64) { binary.BigEndian.PutUint64(b[placeAt:], uint64(place)) }

// A Format says what the files of one kind are.
type Format struct {
	Kind    string // in the first line, such as "log"
	Version int    // the version of the files
	Rules   int    // the rules by which transactions are applied
	// Place is what errors call the place of a log's batch, such as "zxid", and SnapshotPlace what they
	// call the place in a snapshot's name.
	Place, SnapshotPlace string
	// Cure tells an operator what to do about a damaged or missing file. Errors end with it.
	Cure string
}

// A Heading is the start of a file: a line of text with the file's kind, version and rules,
// followed by the mark and a checksum.
type Heading struct {
	Frame Frame
	Bytes []byte
}

// NewHeading returns a heading with a random mark.
func NewHeading(format Format) Heading {
	b := fmt.Appendf(nil, "stampede %s %d rules %d\n", format.Kind, format.Version, format.Rules)
	line := len(b)
	b = append(b, make([]byte, markLength)...)
	rand.Read(b[line:])
	mark := binary.BigEndian.Uint64(b[line:])
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return Heading{Frame{mark}, b}
}

const (
	markLength = 8
	markAndSum = markLength + 4
)

// longestLine is a length in bytes that exceeds any heading's line.
const longestLine = 64

func readHeading(from *bufio.Reader, format Format) (Heading, error) {
	begin, _ := from.Peek(longestLine) // fewer bytes if the file is shorter
	line, _, ok := strings.Cut(string(begin), "\n")
	line += "\n"
	var v, rules int
	if n, _ := fmt.Sscanf(line, "stampede "+format.Kind+" %d rules %d\n", &v, &rules); !ok || n == 0 {
		return Heading{}, fmt.Errorf("not a %s: it does not begin with %q", format.Kind, "stampede "+format.Kind)
	}
	if v != format.Version || rules > format.Rules {
		return Heading{}, fmt.Errorf("of version %d with rules %d: this program reads version %d with rules up to %d",
			v, rules, format.Version, format.Rules)
	}
	return readMark(from, line, format)
}

func readMark(from *bufio.Reader, line string, format Format) (Heading, error) {
	b := make([]byte, len(line)+markAndSum)
	if _, err := io.ReadFull(from, b); err != nil {
		return Heading{}, fmt.Errorf("damaged at byte 0: %s", format.Cure)
	}
	sum := b[len(b)-4:]
	if crc32.Checksum(b[:len(b)-4], castagnoli) != binary.BigEndian.Uint32(sum) {
		return Heading{}, fmt.Errorf("damaged at byte 0: %s", format.Cure)
	}
	mark := binary.BigEndian.Uint64(b[len(line):])
	return Heading{Frame{mark}, b}, nil
}

// headingOf returns the heading of a log and the length of the file.
func headingOf(path string, format Format) (Heading, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return Heading{}, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Heading{}, 0, err
	}
	h, err := readHeading(bufio.NewReader(f), format)
	return h, info.Size(), err
}

// syncLength is the number of bytes of a snapshot between two syncs. It is small because the log's
// syncs wait behind them.
const syncLength = 4 << 20

// A Writer writes the batches of a snapshot, which are numbered from 0.
type Writer struct {
	file    File
	frame   Frame
	batch   []byte
	number  int64
	written int64 // bytes
	synced  int64 // bytes synced
}

// NewWriter returns a writer of a file's batches.
func NewWriter(f File, frame Frame) *Writer { return &Writer{file: f, frame: frame} }

// Add writes a batch with the body, which it copies.
func (w *Writer) Add(body []byte) error {
	w.batch = append(BeginBatch(w.batch[:0], w.number), body...)
	w.number++
	w.frame.End(w.batch)
	return w.AddWhole(w.batch)
}

// AddWhole writes bytes as they are, such as a batch of another file with the same mark.
func (w *Writer) AddWhole(b []byte) error {
	n, err := w.file.Write(b)
	if w.written += int64(n); err == nil && w.written-w.synced > syncLength {
		err = w.file.Sync()
		w.synced = w.written
	}
	return err
}

// Written returns the number of bytes written.
func (w *Writer) Written() int64 { return w.written }
