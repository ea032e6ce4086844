package wal

import (
	"fmt"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// A replay applies the batches of the logs to a tree.
type replay struct {
	tree    *tree.Tree
	zxid    int64 // zxid of the last transaction read
	scratch []byte
}

// batch applies a batch whose first transaction has the zxid place. It returns the zxid behind it.
func (r *replay) batch(place int64, body []byte) (next int64, err error) {
	r.zxid = place - 1
	err = r.body(body)
	return r.zxid + 1, err
}

// body applies the transactions that the tree does not contain yet. It fails if a result or the
// tree's digest differs from the recorded one.
func (r *replay) body(body []byte) error {
	b := codec.NewDecoder(body)
	digest := uint64(b.Long())
	for len(b.Rest()) > 0 {
		x, ok := readRecord(&b)
		if !ok {
			return fmt.Errorf("zxid %d is not a transaction of this version", r.zxid+1)
		}
		if r.zxid++; r.zxid <= r.tree.Zxid() {
			continue
		}
		result, _ := r.tree.Apply(x.txn)
		if x.kind == applied && resultDigest(&result, &r.scratch) != x.digest {
			return fmt.Errorf("zxid %d has another result than it had: %s", r.zxid, otherRules)
		}
	}
	if r.zxid == r.tree.Zxid() && r.tree.Digest() != digest {
		return fmt.Errorf("zxid %d leads to another state than it did: %s", r.zxid, otherRules)
	}
	return nil
}

const otherRules = "run the program that wrote the log, or restore the directory from a copy"
