package wal

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// currentName is the name of the file that names the newest log. It names a log before the log has
// a transaction, so a missing newest log is detected.
const currentName = "current"

const currentLine = "stampede newest log %s\n"

func (j *Journal) writeCurrent(log string) error {
	path := filepath.Join(j.dir, currentName)
	f, err := j.beginWith(path, fmt.Appendf(nil, currentLine, filepath.Base(log)))
	if err != nil {
		return err
	}
	return errors.Join(j.settle(f, path), f.Close())
}

// checkCurrent fails if the newest log, or the file that names it, is missing.
func (j *Journal) checkCurrent(logs []file) error {
	path := filepath.Join(j.dir, currentName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return j.checkWithoutCurrent(path, logs)
	}
	if err != nil {
		return err
	}
	var newest string
	if _, err := fmt.Sscanf(string(b), currentLine, &newest); err != nil || !strings.HasPrefix(newest, logKind+"-") {
		return fmt.Errorf("%s: damaged: it must be %q with the name of the newest log", path, fmt.Sprintf(currentLine, "NAME"))
	}
	newest = filepath.Join(j.dir, newest)
	if !slices.ContainsFunc(logs, func(l file) bool { return l.path == newest }) {
		return fmt.Errorf("%s: missing, and it is the newest log by %s: restore the file from a copy", newest, path)
	}
	return nil
}

// checkWithoutCurrent accepts a directory without the file current only if no server has served
// from it yet, or if its logs have version 1, which had no such file.
func (j *Journal) checkWithoutCurrent(path string, logs []file) error {
	snapshots, err := filesOf(j.dir, snapshotKind)
	if err != nil {
		return err
	}
	ofOne := false
	for _, l := range logs {
		h, size, err := headingOf(l)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", l.path, err)
		case h.version == 1:
			ofOne = true
		case size > int64(len(h.bytes)):
			return fmt.Errorf("%s: missing, and it would name the newest log: restore the file from a copy", path)
		}
	}
	if len(snapshots) > 0 && !ofOne {
		return fmt.Errorf("%s: zxid %d and the log from there on should follow, which is missing: restore the file from a copy",
			snapshots[len(snapshots)-1].path, snapshots[len(snapshots)-1].zxid+1)
	}
	return nil
}

// headingOf returns the heading of a log and the length of the file.
func headingOf(l file) (heading, int64, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return heading{}, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return heading{}, 0, err
	}
	h, err := readHeading(bufio.NewReader(f), logKind)
	return h, info.Size(), err
}
