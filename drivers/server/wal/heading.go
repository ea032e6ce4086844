package wal

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// version is the version of the files that are written. Version 1 can also be read.
const version = 2

// A heading is the start of a file: a line of text with the file's kind, version and rules,
// followed by the mark and a checksum. In version 1 it is the line only, without rules.
type heading struct {
	version int
	frame   frame
	bytes   []byte
}

// newHeading returns a heading with a random mark.
func newHeading(kind string) heading {
	b := fmt.Appendf(nil, "stampede %s %d rules %d\n", kind, version, tree.Rules)
	line := len(b)
	b = append(b, make([]byte, markLength)...)
	rand.Read(b[line:])
	mark := binary.BigEndian.Uint64(b[line:])
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return heading{version, frame{batchHeader, mark}, b}
}

const (
	markLength = 8
	markAndSum = markLength + 4
)

func headingOne(kind string) string { return "stampede " + kind + " 1\n" }

// longestLine is a length in bytes that exceeds any heading's line.
const longestLine = 64

func readHeading(from *bufio.Reader, kind string) (heading, error) {
	begin, _ := from.Peek(longestLine) // fewer bytes if the file is shorter
	line, _, ok := strings.Cut(string(begin), "\n")
	line += "\n"
	var v, rules int
	if n, _ := fmt.Sscanf(line, "stampede "+kind+" %d rules %d\n", &v, &rules); !ok || n == 0 {
		return heading{}, fmt.Errorf("not a %s: it does not begin with %q", kind, "stampede "+kind)
	}
	switch {
	case line == headingOne(kind):
		_, err := from.Discard(len(line))
		return heading{1, frame{header: batchHeaderOne}, []byte(line)}, err
	case v > version || rules > tree.Rules:
		return heading{}, fmt.Errorf("of version %d with rules %d, which a later program wrote: this one reads up to version %d with rules %d",
			v, rules, version, tree.Rules)
	}
	return readMark(from, line)
}

func readMark(from *bufio.Reader, line string) (heading, error) {
	b := make([]byte, len(line)+markAndSum)
	if _, err := io.ReadFull(from, b); err != nil {
		return heading{}, errDamagedHeading
	}
	sum := b[len(b)-4:]
	if crc32.Checksum(b[:len(b)-4], castagnoli) != binary.BigEndian.Uint32(sum) {
		return heading{}, errDamagedHeading
	}
	mark := binary.BigEndian.Uint64(b[len(line):])
	return heading{version, frame{batchHeader, mark}, b}, nil
}

var errDamagedHeading = errors.New("damaged at byte 0: restore the file from a copy")
