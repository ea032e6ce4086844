package captured

import (
	"embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// A Packet is one packet from a client or a server.
type Packet struct {
	Client  string // kazoo and so on
	Request bool   // from the client; a reply or a notification otherwise
	// Op is the opcode, for a reply that of its request: −10 for the packets that open a
	// session, 0 for notifications.
	Op      int32
	Payload []byte // with the header, without the length
}

// Framed returns the packet with its length, as it is on a connection.
func (p Packet) Framed() []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(p.Payload))), p.Payload...)
}

//go:embed packets
var files embed.FS

// Packets returns all packets, client by client, in the order in which they were sent. It
// fails if a file was not written by Write.
func Packets() (all []Packet, err error) {
	entries, err := files.ReadDir("packets")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("packets", e.Name()))
		if err != nil {
			return nil, err
		}
		client := strings.TrimSuffix(e.Name(), ".txt")
		for line := range strings.Lines(string(text)) {
			p, err := parse(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", e.Name(), line, err)
			}
			p.Client = client
			all = append(all, p)
		}
	}
	return all, nil
}

// Write writes a client's packets, one per line: the side, the opcode and the payload in hex.
func Write(w io.Writer, packets []Packet) error {
	for _, p := range packets {
		if _, err := fmt.Fprintf(w, "%s %d %x\n", side(p.Request), p.Op, p.Payload); err != nil {
			return err
		}
	}
	return nil
}

func side(request bool) string {
	if request {
		return "request"
	}
	return "reply"
}

func parse(line string) (p Packet, err error) {
	var from, payload string
	if _, err := fmt.Sscan(line, &from, &p.Op, &payload); err != nil {
		return p, err
	}
	if !slices.Contains([]string{side(true), side(false)}, from) {
		return p, fmt.Errorf("%q is neither %s nor %s", from, side(true), side(false))
	}
	p.Request = from == side(true)
	p.Payload, err = hex.DecodeString(payload)
	return p, err
}
