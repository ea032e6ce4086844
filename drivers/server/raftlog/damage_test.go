package raftlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
)

func pathOf(dir, kind string, place int64) string { return logfile.PathOf(dir, kind, place) }

// appended appends the entries from first to last, each as one batch.
func appended(t *testing.T, l *Log, first, last uint64) {
	t.Helper()
	for i := first; i <= last; i++ {
		if err := l.Append(hard(1, 2, i-1), []*pb.Entry{entry(i, 1, fmt.Append(nil, "data ", i))}, true); err != nil {
			t.Fatal(err)
		}
	}
}

// written returns a log file of six entries, and the ends of its batches.
func written(t *testing.T) (log []byte, ends []int) {
	t.Helper()
	dir := t.TempDir()
	l := open(t, disktest.Unsynced{}, dir, standard())
	for i := range uint64(7) {
		if i > 0 {
			appended(t, l, i, i)
		}
		var err error
		if log, err = os.ReadFile(pathOf(dir, logfile.Log, 1)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, len(log))
	}
	return log, ends
}

// write makes the log the only and newest one.
func write(t *testing.T, dir string, log []byte) {
	t.Helper()
	path := pathOf(dir, logfile.Log, 1)
	for name, b := range map[string][]byte{path: log, filepath.Join(dir, "current"): fmt.Appendf(nil, "stampede newest log %s\n", filepath.Base(path))} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A log that is cut off anywhere in its last batch recovers without that batch, and accepts it again.
func TestTornTail(t *testing.T) {
	log, ends := written(t)
	dir := t.TempDir()
	for end := ends[5]; end < len(log); end++ {
		write(t, dir, log[:end])
		l := open(t, disktest.Unsynced{}, dir, standard())
		if last, _ := l.LastIndex(); last != 5 {
			t.Fatalf("cut off at byte %d: the last entry is %d, want 5", end, last)
		}
		appended(t, l, 6, 6)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(pathOf(dir, logfile.Log, 1)); !slices.Equal(got, log) {
			t.Fatalf("cut off at byte %d and written on, it is not what it was", end)
		}
	}
}

// A new log that is cut off anywhere in its first batch is a new log.
func TestTornFirstBatch(t *testing.T) {
	log, ends := written(t)
	heading := len(logfile.NewHeading(logFormat()).Bytes)
	for end := heading; end < ends[0]; end++ {
		dir := t.TempDir()
		write(t, dir, log[:end])
		l := open(t, disktest.Unsynced{}, dir, standard())
		if got := viewOf(t, l); got != (view{}) {
			t.Fatalf("cut off at byte %d: %+v, want nothing", end, got)
		}
		l.Close()
	}
}

// A changed byte, or eight zeroed bytes, anywhere before the last batch is found, and the log stays
// unchanged.
func TestDamageIsRefused(t *testing.T) {
	log, ends := written(t)
	damages := map[string]func(b []byte){
		"flipped": func(b []byte) { b[0] ^= 0x40 },
		"zeroed":  func(b []byte) { binary.BigEndian.PutUint64(b, 0) },
	}
	dir := t.TempDir()
	for name, damage := range damages {
		for at := 0; at < ends[5]-8; at++ {
			bad := slices.Clone(log)
			if damage(bad[at:]); slices.Equal(bad, log) {
				continue
			}
			write(t, dir, bad)
			_, err := OpenOn(disktest.Unsynced{}, dir, one())
			if err == nil || !strings.HasPrefix(err.Error(), pathOf(dir, logfile.Log, 1)+": ") ||
				!(strings.Contains(err.Error(), "damaged at byte") || strings.Contains(err.Error(), "not a raft-log")) {
				t.Fatalf("%s at byte %d: %v, want it refused as damaged", name, at, err)
			}
			if got, _ := os.ReadFile(pathOf(dir, logfile.Log, 1)); !slices.Equal(got, bad) {
				t.Fatalf("%s at byte %d: refused, and changed", name, at)
			}
		}
	}
}

// A changed byte of the last batch, which was confirmed, is found, unless it is in the length: then the file seems to end
// too early.
func TestDamageOfTheLastBatchIsRefused(t *testing.T) {
	log, ends := written(t)
	dir := t.TempDir()
	for at := ends[5] + 4; at < len(log); at++ {
		bad := slices.Clone(log)
		bad[at] ^= 0x40
		write(t, dir, bad)
		_, err := OpenOn(disktest.Unsynced{}, dir, one())
		if err == nil || !strings.Contains(err.Error(), "which is all there and was confirmed") {
			t.Fatalf("flipped at byte %d: %v, want it refused as damaged", at, err)
		}
	}
}

// A damaged batch whose checksum is right, because a program wrote it wrongly, is refused, too.
func TestWrongRecordsAreRefused(t *testing.T) {
	for want, bodies := range map[string][][]byte{
		"entry 9 cannot follow entry 0":            {appendEntry(nil, entry(9, 1, nil))},
		"a record of the unknown kind 77":          {{77}},
		"an incomplete record":                     {{stateRecord, 1}},
		"entry 1 should follow, which was commit":  {appendState(nil, state{1, 1, 1})},
		"entry 7 of term 1 should be before it":    {appendEntry(nil, entry(1, 1, nil)), appendBase(nil, base{position: position{7, 1}})},
		"it belongs to member 2 of 1, 2, 3, not t": {appendMember(nil, Member{2, one().Voters})},
	} {
		dir := t.TempDir()
		l := open(t, disktest.Unsynced{}, dir, standard())
		for _, body := range bodies {
			if err := l.writeBatch(append(l.begin(), body...), l.written); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		if _, err := OpenOn(disktest.Unsynced{}, dir, one()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// several makes a directory of several logs and two snapshots.
func several(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	l := open(t, disktest.Unsynced{}, dir, limits{log: 150, snapshot: 1 << 20, batch: 1 << 20})
	for i := range uint64(4) {
		appended(t, l, 4*i+1, 4*i+4)
		if i == 1 || i == 2 {
			if err := l.SaveSnapshot(4*i+3, sectionsOf(fmt.Append(nil, "state ", i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A damaged or missing file is named, wherever it is among those that are needed.
func TestMissingFilesAreRefused(t *testing.T) {
	good := several(t)
	files := func(kind string) []logfile.Name {
		names, err := logfile.List(good, kind)
		if err != nil || len(names) < 2 {
			t.Fatalf("%v, %v, want at least two of each kind", names, err)
		}
		return names
	}
	logs, snapshots := files(logfile.Log), files(logfile.Snapshot)
	newest, before := logs[len(logs)-1], logs[len(logs)-2]
	shot := snapshots[len(snapshots)-1]
	for name, test := range map[string]struct {
		spoil func(dir string) error
		want  string // after the path of the file
		file  string
	}{
		"the newest log":       {remove(newest.Path), "missing, and it is the newest log", newest.Path},
		"the log before":       {remove(before.Path), "should follow, which is missing", ""},
		"current":              {remove("current"), "missing, and it would name the newest log", "current"},
		"the last snapshot":    {remove(shot.Path), "", ""},
		"a flip in the last":   {flip(shot.Path, 70), "damaged at byte", shot.Path},
		"a cut in the last":    {cut(shot.Path), "damaged at byte", shot.Path},
		"a cut in an old log":  {cut(before.Path), "damaged at byte", before.Path},
		"a flip in an old log": {flip(before.Path, 200), "damaged at byte", before.Path},
		"a flip in its first":  {flip(before.Path, 60), "damaged at its first batch", before.Path},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.CopyFS(dir, os.DirFS(good)), test.spoil(dir)); err != nil {
			t.Fatal(err)
		}
		l, err := OpenOn(disktest.Unsynced{}, dir, one())
		switch {
		case err == nil && test.want == "":
			if got := string(contentsOf(t, l)); got != "state 1" {
				t.Errorf("%s: it recovered %q, want the snapshot before", name, got)
			}
			l.Close()
		case err == nil || test.want == "" || !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: %v, want %q", name, err, test.want)
		case !strings.HasPrefix(err.Error(), filepath.Join(dir, filepath.Base(test.file))):
			t.Errorf("%s: %v, want it to name %s", name, err, test.file)
		}
	}
}

func remove(path string) func(string) error {
	return func(dir string) error { return os.Remove(filepath.Join(dir, filepath.Base(path))) }
}

// flip changes a byte.
func flip(path string, at int) func(string) error {
	return func(dir string) error {
		b, err := os.ReadFile(filepath.Join(dir, filepath.Base(path)))
		if err != nil {
			return err
		}
		b[at] ^= 0x40
		return os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o600)
	}
}

// cut removes the last byte.
func cut(path string) func(string) error {
	return func(dir string) error {
		path := filepath.Join(dir, filepath.Base(path))
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, info.Size()-1)
	}
}

// A flipped byte or an early end anywhere in a snapshot that arrives is noticed, and nothing is stored.
func TestDamagedStreamIsRefused(t *testing.T) {
	dir := t.TempDir()
	l := open(t, disktest.Unsynced{}, dir, standard())
	good := streamOf(t, position{5, 2}, []byte("the state of the other"))
	refused := func(b []byte, what string, at int) {
		t.Helper()
		if got, err := l.Receive(bytes.NewReader(b)); err == nil {
			got.Discard()
			t.Fatalf("%s at byte %d: accepted", what, at)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "received*")); len(left) > 0 {
			t.Fatalf("%s at byte %d: it left %v", what, at, left)
		}
	}
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 0x40
		refused(bad, "flipped", at)
		refused(good[:at], "cut off", at)
	}
	got, err := l.Receive(bytes.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Receive(bytes.NewReader(good)); err == nil {
		t.Error("two snapshots were received at a time")
	}
	if err := got.Discard(); err != nil {
		t.Error(err)
	}
	if got := viewOf(t, l); got != (view{}) {
		t.Errorf("%+v, want nothing", got)
	}
}

// What a log sends of a snapshot is what another one receives.
func TestSnapshotIsPassedOn(t *testing.T) {
	from := open(t, disktest.Unsynced{}, t.TempDir(), standard())
	appended(t, from, 1, 9)
	if err := from.SaveSnapshot(8, sectionsOf([]byte("the state after 8"))); err != nil {
		t.Fatal(err)
	}
	to, err := OpenOn(disktest.Unsynced{}, t.TempDir(), Member{3, one().Voters})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	got, err := to.Receive(bytes.NewReader(append(sent(t, from), "what follows on the connection"...)))
	if err != nil {
		t.Fatal(err)
	}
	if at := got.Metadata(); at.GetIndex() != 8 || at.GetTerm() != 1 {
		t.Errorf("it is of entry %d of term %d, want 8 and 1", at.GetIndex(), at.GetTerm())
	}
	if err := to.Install(got, hard(4, 2, 8)); err != nil {
		t.Fatal(err)
	}
	want := view{state{4, 2, 8}, position{8, 1}, "the state after 8", "", position{8, 1}}
	if got := viewOf(t, to); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A directory of another member or group is refused, and so is one that another process uses.
func TestForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	l := open(t, disktest.Unsynced{}, dir, standard())
	if _, err := Open(dir, one()); err == nil || err.Error() != dir+": another server is running on it" {
		t.Errorf("the second got %v", err)
	}
	l.Close()
	for want, m := range map[string]Member{
		"it belongs to member 1 of 1, 2, 3, not to member 2 of 1, 2, 3":                   {2, one().Voters},
		"it belongs to member 1 of 1, 2, 3, not to member 1 of 1, 2, 3, 4, 5":             {1, []uint64{1, 2, 3, 4, 5}},
		"invalid member 4: must be one of 1, 2, 3":                                        {4, one().Voters},
		"invalid members [1 3 2]: IDs must be positive, different and in ascending order": {1, []uint64{1, 3, 2}},
		"invalid members [0 1 2]: IDs must be positive, different and in ascending order": {1, []uint64{0, 1, 2}},
		"invalid members [1 1]: IDs must be positive, different and in ascending order":   {1, []uint64{1, 1}},
		"invalid member 1: must be one of 2, 3":                                           {1, []uint64{2, 3}},
	} {
		if _, err := OpenOn(disktest.Unsynced{}, dir, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	open(t, disktest.Unsynced{}, dir, standard())
}

// A full disk ends the log.
func TestFullDisk(t *testing.T) {
	l := open(t, disktest.Unsynced{}, t.TempDir(), standard())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	l.dir.Log.Close()
	l.dir.Log = full
	for range 2 {
		if err := l.Append(hard(1, 1, 0), nil, true); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v, want that there is no space", err)
		}
	}
}

// A snapshot whose writing function fails is discarded, and the log goes on.
func TestAbandonedSnapshot(t *testing.T) {
	dir := t.TempDir()
	l := open(t, disktest.Unsynced{}, dir, standard())
	appended(t, l, 1, 3)
	abandoned := errors.New("abandoned")
	err := l.SaveSnapshot(2, func(add func([]byte) error) error { return errors.Join(add([]byte("section")), abandoned) })
	if !errors.Is(err, abandoned) || l.Err() != nil {
		t.Errorf("%v and %v, want %v and nil", err, l.Err(), abandoned)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "snapshot*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	appended(t, l, 4, 4)
}

// The log refuses what raft must not do.
func TestWrongCalls(t *testing.T) {
	l := open(t, disktest.Unsynced{}, t.TempDir(), standard())
	appended(t, l, 1, 5) // 4 are committed
	for want, err := range map[string]error{
		"entry 7 cannot follow 5":           l.Append(nil, []*pb.Entry{entry(7, 1, nil)}, true),
		"entry 8 instead of 7":              l.Append(nil, []*pb.Entry{entry(6, 1, nil), entry(8, 1, nil)}, true),
		"entry 4 of term 1 is committed an": l.Append(nil, []*pb.Entry{entry(4, 2, nil)}, true),
		"entry 6 cannot be the last commit": l.Append(hard(1, 2, 6), nil, true),
		"snapshot of entry 5: the last com": l.SaveSnapshot(5, sectionsOf(nil)),
		"cannot compact entry 1: the last ": l.Compact(1),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := l.Err(); err != nil {
		t.Error(err)
	}
}

// A snapshot is due when the logs have grown, and again only after it was saved.
func TestDue(t *testing.T) {
	l := open(t, disktest.Unsynced{}, t.TempDir(), short())
	due := 0
	for i := range uint64(100) {
		appended(t, l, i+1, i+1)
		select {
		case <-l.Due():
			due++
			if due%2 == 0 {
				continue // it is not saved, so it is not due again
			}
			if err := l.SaveSnapshot(i, sectionsOf(nil)); err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
	if due != 2 {
		t.Errorf("a snapshot was due %d times, want 2", due)
	}
}
