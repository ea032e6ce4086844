package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
)

const (
	// joiningName is the name of the file that marks a log as that of a member that is joining, see
	// replica.Config. It is made before the log has an entry.
	joiningName = "joining"
	// placeName is the name of the file that says which file it is itself, and what was committed when it was
	// made. It is made anew while the log grows. So it says something else in a copy of the directory, also if that
	// was copied over it, and the log ends before what it says if an older file of the log was restored. Either may
	// lack what the member has confirmed since.
	placeName = "place"
)

// placeEvery is how often the place is made anew while the log grows.
const placeEvery = time.Second

// isJoining reports whether the member of the log is joining: its directory was empty, or is a copy of one, when
// it first started with it.
func isJoining(log *raftlog.Log) (joining, copied bool, err error) {
	dir := log.Dir().Path
	last, err := log.LastIndex()
	if err != nil {
		return false, false, err
	}
	in, err := isInPlace(dir, last)
	if err != nil {
		return false, false, err
	}
	if last == 0 || !in {
		return true, last > 0, errors.Join(markJoining(log.Dir()), markPlace(log.Dir(), 0))
	}
	_, err = os.Stat(filepath.Join(dir, joiningName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	return err == nil, false, err
}

// markJoining makes the file that says that the member is joining, and returns when it is on disk.
func markJoining(dir *logfile.Directory) error {
	path := filepath.Join(dir.Path, joiningName)
	f, err := dir.Begin(path, nil)
	if err != nil {
		return err
	}
	return errors.Join(dir.Settle(f, path), f.Close())
}

// isInPlace reports whether the directory is the one in which its log was written, up to what was committed.
func isInPlace(dir string, last uint64) (bool, error) {
	path := filepath.Join(dir, placeName)
	said, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	place, err := placeOf(path)
	if err != nil {
		return false, err
	}
	var committed uint64
	rest, is := strings.CutPrefix(string(said), place)
	_, err = fmt.Sscanf(rest, committedLine, &committed)
	return is && err == nil && committed <= last, nil
}

// committedLine is the second line of the file place. The first one says which file it is.
const committedLine = "\ncommitted %d\n"

// markPlace makes the file that says which file it is, and what was committed. Its inode is there before its text,
// and its text before its name.
func markPlace(dir *logfile.Directory, committed uint64) error {
	path := filepath.Join(dir.Path, placeName)
	f, err := dir.Begin(path, nil)
	if err != nil {
		return err
	}
	place, err := placeOf(path + logfile.Unfinished)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s"+committedLine, place, committed)
	}
	if err == nil {
		err = dir.Settle(f, path)
	}
	return errors.Join(err, f.Close())
}

// keepPlace makes the place anew while the log grows, until the server is closed, and then once more.
func (e *ensemble) keepPlace() {
	ticks := time.NewTicker(placeEvery)
	defer ticks.Stop()
	for last, closed := uint64(0), false; !closed; {
		select {
		case <-ticks.C:
		case <-e.server.done:
			closed = true
		}
		e.server.mu.Lock()
		applied := e.member.Status().Applied
		e.server.mu.Unlock()
		if applied == last {
			continue
		}
		if err := markPlace(e.log.Dir(), applied); err != nil {
			e.reportError(fmt.Errorf("member %d: %w", e.settings.ID, err))
		}
		last = applied
	}
}

// hasJoined notes that the member is not joining any more. If the note is lost, the member joins
// once more.
func (e *ensemble) hasJoined() error {
	return os.Remove(filepath.Join(e.log.Dir().Path, joiningName))
}
