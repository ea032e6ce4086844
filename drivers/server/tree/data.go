package tree

import "unsafe"

// A data is a []byte, null or not, without a capacity. This saves a third of a slice's header in
// every node.
type data struct {
	first *byte
	len   int
}

func dataOf(b []byte) data { return data{unsafe.SliceData(b), len(b)} }

func (d data) bytes() []byte { return unsafe.Slice(d.first, d.len) }
