package captured

import (
	"bytes"
	"slices"
	"testing"
)

// Writing the packets that were read reproduces the files, and every client has packets of both
// sides.
func TestPacketsAreWhatWasWritten(t *testing.T) {
	all, err := Packets()
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"curator", "go-zookeeper", "kazoo", "shell"} {
		theirs := slices.DeleteFunc(slices.Clone(all), func(p Packet) bool { return p.Client != client })
		for _, request := range []bool{true, false} {
			if !slices.ContainsFunc(theirs, func(p Packet) bool { return p.Request == request && len(p.Payload) > 0 }) {
				t.Errorf("%s: no packet with request %t", client, request)
			}
		}
		var b bytes.Buffer
		if err := Write(&b, theirs); err != nil {
			t.Fatal(err)
		}
		if written, _ := files.ReadFile("packets/" + client + ".txt"); !bytes.Equal(b.Bytes(), written) {
			t.Errorf("%s: %d bytes were read and %d written", client, len(written), b.Len())
		}
	}
}

func TestOtherLinesAreRefused(t *testing.T) {
	for _, line := range []string{"", "request 1", "question 1 00", "request one 00", "reply 1 0", "reply 1 xx"} {
		if p, err := parse(line); err == nil {
			t.Errorf("%q is %+v", line, p)
		}
	}
}

func TestFramed(t *testing.T) {
	if got := (Packet{Payload: []byte("abc")}).Framed(); string(got) != "\x00\x00\x00\x03abc" {
		t.Errorf("got %q", got)
	}
}
