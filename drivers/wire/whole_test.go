package wire

import "testing"

// TestWholePackets gives the packets of real clients: each must be recognised as a whole packet, but
// for those that open a session. Half a packet must not be.
func TestWholePackets(t *testing.T) {
	for client, packets := range byClient(t) {
		for i, p := range packets {
			b := p.Framed()
			if got, want := WholePackets(p.Request, b), p.Op != OpCreateSession; got != want {
				t.Errorf("%s: packet %d is recognised: %v, want %v", client, i, got, want)
			}
			half := len(b) / 2
			if WholePackets(p.Request, b[half:]) || WholePackets(p.Request, b[:half]) {
				t.Errorf("%s: half of packet %d is taken for whole packets", client, i)
			}
			if twice := append(b, b...); WholePackets(p.Request, twice) != WholePackets(p.Request, b) {
				t.Errorf("%s: packet %d and itself twice differ", client, i)
			}
		}
	}
}
