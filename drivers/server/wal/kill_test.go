package wal

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// writerDirectory is the environment variable that makes a process of this test write to the
// journal in a directory until it is killed, and writerSeed the one with the seed of what it writes.
const writerDirectory, writerSeed = "JOURNAL_OF_WRITER", "SEED_OF_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDirectory); dir != "" {
		seed, err := strconv.ParseUint(os.Getenv(writerSeed), 10, 64)
		if err != nil {
			panic(err)
		}
		writeUntilKilled(dir, rand.New(rand.NewPCG(seed, 0)))
	}
	os.Exit(m.Run())
}

// kills is the number of times that the writer is killed; KILLS overrides it.
const kills = 20

// A writer that is killed at any time, including during a snapshot or the start of a new log,
// leaves all the state that it knew to be on disk, possibly some of its later transactions, and
// nothing else.
func TestKilledWriter(t *testing.T) {
	testenv.SkipIfShort(t)
	rounds := kills
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		rounds = n
	}
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("SEED=%d", seed)
	r, dir := rand.New(rand.NewPCG(seed, 0)), t.TempDir()
	want := tree.New()
	more := 0
	// It is killed more often if by chance no kill fell between a write and its report.
	for round := 0; round < rounds || more == 0 && round < 10*rounds; round++ {
		known := killWriter(t, dir, r)
		j, err := Open(dir)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		got := j.Tree()
		j.Close()
		if got.Zxid() < known {
			t.Fatalf("round %d: zxid %d, and %d was on disk", round, got.Zxid(), known)
		}
		if got.Zxid() > known {
			more++
		}
		for want.Zxid() < got.Zxid() {
			want.Apply(randomTxn(want.Zxid() + 1))
		}
		if diff := cmp.Diff(pictureOf(want), pictureOf(got)); diff != "" {
			t.Fatalf("round %d, zxid %d (-want +got):\n%s", round, got.Zxid(), diff)
		}
	}
	snapshots, err := logfile.List(dir, logfile.Snapshot)
	if err != nil || len(snapshots) != 2 || more == 0 {
		t.Errorf("%d snapshots, %v, and %d times more than was known: the test tried too little", len(snapshots), err, more)
	}
}

// killWriter starts a writer and kills it after it has reported the durable zxid a given number of
// times. It returns the last reported zxid.
func killWriter(t *testing.T, dir string, r *rand.Rand) (zxid int64) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), writerDirectory+"="+dir, writerSeed+"="+strconv.FormatUint(r.Uint64(), 10))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	scanner := bufio.NewScanner(out)
	for range 1 + r.IntN(300) {
		if !scanner.Scan() {
			t.Fatal("the writer ended by itself")
		}
		if zxid, err = strconv.ParseInt(scanner.Text(), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return zxid
}

// writeUntilKilled applies transactions, saves snapshots when they are due, and reports the durable
// zxid.
func writeUntilKilled(dir string, r *rand.Rand) {
	j, err := openWith(logfile.System{}, dir, limits{log: 4 << 10, snapshot: 16 << 10, batch: 512, record: 1 << 20, pending: 2 << 10, pendingOf: 10})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex // guards the tree
	go func() {
		for range j.Due() {
			mu.Lock()
			s := j.Tree().Snapshot()
			mu.Unlock()
			j.SaveSnapshot(s, func(images []tree.Image) ([]tree.Image, bool, error) {
				mu.Lock()
				defer mu.Unlock()
				images, more := s.Next(images, 5)
				return images, more, nil
			})
		}
	}()
	for j.Err() == nil {
		mu.Lock()
		for range 1 + r.IntN(20) {
			x := randomTxn(j.Tree().Zxid() + 1)
			waitForRoom(j)
			j.Apply(x)
		}
		zxid := j.Tree().Zxid()
		mu.Unlock()
		if r.IntN(3) > 0 && j.Await(zxid) == nil {
			fmt.Println(zxid)
		}
	}
	fmt.Fprintln(os.Stderr, j.Err())
	os.Exit(1)
}

// waitForRoom waits as the journal's only client would. The limits are so low here that it always
// has to wait.
func waitForRoom(j *Journal) {
	for wait := j.Room(j.Tree().Zxid()); wait != nil; wait = j.Room(j.Tree().Zxid()) {
		<-wait
	}
	if bytes, txns := j.Pending(); bytes >= j.limits.pending || txns >= j.limits.pendingOf {
		fmt.Fprintf(os.Stderr, "%d bytes and %d transactions are pending, with limits %+v\n", bytes, txns, j.limits)
		os.Exit(1)
	}
}

// randomTxn returns the transaction with the zxid.
func randomTxn(zxid int64) tree.Txn {
	r := rand.New(rand.NewPCG(1, uint64(zxid)))
	x := tree.Txn{Session: 1 + r.Int64N(3), Time: zxid, Op: randomOp(r)}
	switch r.IntN(20) {
	case 0:
		x.Op = tree.Op{Kind: tree.OpenSession}
		x.Timeout = int32(zxid)
	case 1:
		x.Op = tree.Op{Kind: tree.CloseSession}
	case 2, 3:
		x.Op = tree.Op{Kind: tree.Multi}
		x.Ops = []tree.Op{randomOp(r), randomOp(r)}
	}
	return x
}

func randomOp(r *rand.Rand) tree.Op {
	acls := [][]wire.ACL{[]wire.ACL{wire.OpenACL()}, {{Perms: wire.PermAll &^ wire.PermWrite, Scheme: "world", ID: "anyone"}}}
	path := fmt.Sprintf("/%d", r.IntN(8))
	if r.IntN(2) == 0 {
		path += fmt.Sprintf("/%d", r.IntN(8))
	}
	return tree.Op{
		Kind: tree.Kind(r.IntN(6)) + tree.Create, Path: path, Mode: tree.Mode(r.IntN(4)), ACL: acls[r.IntN(2)],
		Data: make([]byte, r.IntN(100)), Version: tree.AnyVersion,
	}
}
