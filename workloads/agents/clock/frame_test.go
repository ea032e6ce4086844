package clock

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func TestFramesAreEncoded(t *testing.T) {
	f := frame{answer, 0x0102030405060708, coordinatorMoment(0x11), coordinatorMoment(0x2233)}
	got := f.encode()
	want := "stcl\x01\x02\x00\x00" + "\x01\x02\x03\x04\x05\x06\x07\x08" + "\x00\x00\x00\x00\x00\x00\x00\x11" + "\x00\x00\x00\x00\x00\x00\x22\x33"
	if string(got[:]) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if back, err := decode(got[:]); back != f || err != nil {
		t.Errorf("got %+v, %v; want %+v", back, err, f)
	}
}

func TestInvalidFramesAreRejected(t *testing.T) {
	valid := frame{answer, 7, coordinatorMoment(1), coordinatorMoment(2)}.encode()
	change := func(at int, to byte) []byte {
		b := bytes.Clone(valid[:])
		b[at] = to
		return b
	}
	for name, b := range map[string][]byte{
		"empty":                 nil,
		"short":                 valid[:frameSize-1],
		"long":                  append(bytes.Clone(valid[:]), 0),
		"other protocol":        change(0, 'S'),
		"other version":         change(4, 2),
		"no kind":               change(5, 0),
		"unknown kind":          change(5, 3),
		"reserved byte":         change(7, 1),
		"request with times":    change(5, byte(request)),
		"answered too early":    change(23, 3),
		"received before start": change(16, 0x80),
		"answered after years":  change(24, 0x7f),
	} {
		if f, err := decode(b); !errors.Is(err, errFrame) {
			t.Errorf("%s: %+v, %v; want an error", name, f, err)
		}
	}
}

// FuzzDecode checks that decode accepts exactly what encode makes.
func FuzzDecode(f *testing.F) {
	ask, reply := frame{kind: request, nonce: 1}.encode(), frame{answer, 1, coordinatorMoment(1), coordinatorMoment(2)}.encode()
	f.Add(ask[:])
	f.Add(reply[:])
	f.Add(reply[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded, err := decode(b)
		if err != nil {
			return
		}
		if again := decoded.encode(); !bytes.Equal(again[:], b) {
			t.Errorf("%q was decoded as %+v, which is encoded as %q", b, decoded, again)
		}
	})
}

// FuzzEstimator adds two exchanges with any timestamps. Estimates are intervals or errors.
func FuzzEstimator(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), int64(4), int64(5), int64(6), int64(7), int64(8), int64(9))
	f.Add(int64(longest), int64(0), int64(0), int64(longest), int64(0), int64(0), int64(0), int64(0), int64(longest))
	f.Fuzz(func(t *testing.T, a, b, c, d, g, h, i, j, at int64) {
		e := estimator(t, 200)
		for _, x := range [][4]int64{{a, b, c, d}, {g, h, i, j}} {
			_ = e.Add(Exchange{MomentAt(time.Duration(x[0])), coordinatorMoment(time.Duration(x[1])),
				coordinatorMoment(time.Duration(x[2])), MomentAt(time.Duration(x[3]))})
		}
		if i, err := e.Convert(MomentAt(time.Duration(at))); err == nil && i.Latest.Sub(i.Earliest) < 0 {
			t.Errorf("from %v to %v", i.Earliest, i.Latest)
		}
		if d, err := e.Drift(); err == nil && !(d.Error >= 0 && d.Mean >= -200 && d.Mean <= 200) {
			t.Errorf("drift %v ±%v ppm", d.Mean, d.Error)
		}
	})
}
