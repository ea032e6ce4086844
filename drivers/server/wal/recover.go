package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// recover builds the tree, makes it durable, and opens the log for new transactions.
func (j *Journal) recover() error {
	logs, err := j.dir.Logs(formatOf(logfile.Log))
	if err == nil {
		err = j.recoverSnapshot()
	}
	if err == nil {
		logs, err = logsSince(j.tree.Zxid(), logs)
	}
	if err != nil {
		return err
	}
	return j.recoverLogs(logs)
}

// recoverLogs replays the logs and makes the recovered transactions durable. A readable batch is
// not necessarily on disk: after a failed sync of the last batch, the system may keep it in memory,
// never write it, and still confirm the next sync. So the newest log is copied as it is read. The
// older logs were confirmed when they were written.
func (j *Journal) recoverLogs(logs []logfile.Name) error {
	if len(logs) == 0 {
		if err := j.dir.SyncParent(); err != nil {
			return err
		}
		j.durable.Store(j.tree.Zxid())
		return j.dir.BeginLog(j.tree.Zxid()+1, formatOf(logfile.Log))
	}
	r := replay{tree: j.tree}
	read, err := j.dir.Replay(logs, formatOf(logfile.Log), r.batch)
	if err != nil {
		return err
	}
	newest := logs[len(logs)-1].Path
	if read.Next <= j.tree.Zxid() {
		err := fmt.Errorf("%s: zxid %d should follow, which the snapshot shows", newest, read.Next)
		return errors.Join(err, read.Drop())
	}
	j.durable.Store(j.tree.Zxid())
	j.sinceSnapshot = read.Length
	return j.dir.Adopt(read.Copy, read.Frame, newest, read.Size)
}

func (j *Journal) recoverSnapshot() error {
	snapshots, err := logfile.List(j.dir.Path, logfile.Snapshot)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 {
		j.tree = tree.New()
		j.tree.KeepDigest()
		return nil
	}
	last := snapshots[len(snapshots)-1]
	if j.tree, err = readSnapshot(last); err != nil {
		return fmt.Errorf("%s: %w: restore the file from a copy, or remove it and let the one before and the log do", last.Path, err)
	}
	info, err := os.Stat(last.Path)
	if err == nil {
		j.snapshotSize = info.Size()
	}
	return err
}

// logsSince returns the logs with the transactions after the zxid.
func logsSince(zxid int64, logs []logfile.Name) ([]logfile.Name, error) {
	if len(logs) == 0 {
		return nil, nil
	}
	if first := logs[0]; first.Place > zxid+1 {
		return nil, fmt.Errorf("%s: zxid %d should be before it, which is missing", first.Path, zxid+1)
	}
	for len(logs) > 1 && logs[1].Place <= zxid+1 {
		logs = logs[1:]
	}
	return logs, nil
}

// The kinds of records, stored in their first byte.
const (
	// applied is followed by the transaction and the digest of its result.
	applied byte = iota + 1
	// refused is followed by the error. The transaction changed only the zxid.
	refused
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(b []byte, x *tree.Txn, r *tree.Result, scratch *[]byte) []byte {
	if err := refusal(r); err != wire.OK {
		return wire.AppendInt(append(b, refused), int32(err))
	}
	b = codec.AppendTxn(append(b, applied), x)
	return wire.AppendInt(b, resultDigest(r, scratch))
}

// A record is a transaction read from a log, with the digest of its result. A refused transaction
// is read as a tree.Refuse.
type record struct {
	kind   byte
	txn    tree.Txn
	digest int32
}

// readRecord reads the next record. It returns false if there is no valid one.
func readRecord(r *codec.Decoder) (x record, ok bool) {
	switch x.kind = r.Byte(); x.kind {
	case applied:
		x.txn, x.digest = r.Txn(), r.Int()
	case refused:
		x.txn.Op = tree.Op{Kind: tree.Refuse, Err: wire.Err(r.Int())}
	default:
		return x, false
	}
	return x, r.Err() == nil
}

// refusal returns the first error of a transaction that changed nothing, or OK.
func refusal(r *tree.Result) wire.Err {
	for i := range r.Ops {
		if r.Ops[i].Err != wire.OK {
			return r.Ops[i].Err
		}
	}
	return r.Err
}

// resultDigest returns a checksum of everything in a result that is sent to a client.
func resultDigest(r *tree.Result, scratch *[]byte) int32 {
	b := appendOpResult((*scratch)[:0], &r.OpResult)
	for i := range r.Ops {
		b = appendOpResult(b, &r.Ops[i])
	}
	*scratch = b
	return int32(crc32.Checksum(b, castagnoli))
}

func appendOpResult(b []byte, r *tree.OpResult) []byte {
	return r.Stat.Append(wire.AppendString(wire.AppendInt(b, int32(r.Err)), r.Path))
}

// recordLength returns the length of the transaction's record in bytes if it is applied.
func recordLength(x *tree.Txn) int { return 1 + codec.TxnLength(x) + 4 }

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
