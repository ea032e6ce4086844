package logfile

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// A Format says what the files of one kind are.
type Format struct {
	Kind    string // in the first line, such as "log"
	Version int    // the version of the files
	Rules   int    // the rules by which transactions are applied
	// Place is what errors call the place of a log's batch, such as "zxid", and SnapshotPlace what they
	// call the place in a snapshot's name.
	Place, SnapshotPlace string
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
	return readMark(from, line)
}

func readMark(from *bufio.Reader, line string) (Heading, error) {
	b := make([]byte, len(line)+markAndSum)
	if _, err := io.ReadFull(from, b); err != nil {
		return Heading{}, errDamagedHeading
	}
	sum := b[len(b)-4:]
	if crc32.Checksum(b[:len(b)-4], castagnoli) != binary.BigEndian.Uint32(sum) {
		return Heading{}, errDamagedHeading
	}
	mark := binary.BigEndian.Uint64(b[len(line):])
	return Heading{Frame{mark}, b}, nil
}

var errDamagedHeading = errors.New("damaged at byte 0: restore the file from a copy")

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
