package tree

import "unsafe"

// A data is a []byte, null or not, that does not say how much room it has: a
// third of what every node keeps of its data beside the bytes.
type data struct {
	first *byte
	len   int
}

func dataOf(b []byte) data { return data{unsafe.SliceData(b), len(b)} }

func (d data) bytes() []byte { return unsafe.Slice(d.first, d.len) }
