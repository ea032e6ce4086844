package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The kinds of files in a directory, in their names.
const (
	Log      = "log"
	Snapshot = "snapshot"
)

// currentName is the name of the file that names the newest log. It names a log before the log has
// a batch, so a missing newest log is detected.
const currentName = "current"

const currentLine = "stampede newest log %s\n"

func (d *Directory) writeCurrent(log string) error {
	path := filepath.Join(d.Path, currentName)
	f, err := d.Begin(path, fmt.Appendf(nil, currentLine, filepath.Base(log)))
	if err != nil {
		return err
	}
	return errors.Join(d.Settle(f, path), f.Close())
}

// Logs returns the logs. It fails if the newest log, or the file that names it, is missing.
func (d *Directory) Logs(format Format) ([]Name, error) {
	logs, err := List(d.Path, Log)
	if err != nil {
		return nil, err
	}
	return logs, d.checkCurrent(logs, format)
}

func (d *Directory) checkCurrent(logs []Name, format Format) error {
	path := filepath.Join(d.Path, currentName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d.checkWithoutCurrent(path, logs, format)
	}
	if err != nil {
		return err
	}
	var newest string
	if _, err := fmt.Sscanf(string(b), currentLine, &newest); err != nil || !strings.HasPrefix(newest, Log+"-") {
		return fmt.Errorf("%s: damaged: it must be %q with the name of the newest log", path, fmt.Sprintf(currentLine, "NAME"))
	}
	newest = filepath.Join(d.Path, newest)
	if !slices.ContainsFunc(logs, func(l Name) bool { return l.Path == newest }) {
		return fmt.Errorf("%s: missing, and it is the newest log by %s: restore the file from a copy", newest, path)
	}
	return nil
}

// checkWithoutCurrent accepts a directory without the file current only if nothing has been
// written to it yet.
func (d *Directory) checkWithoutCurrent(path string, logs []Name, format Format) error {
	snapshots, err := List(d.Path, Snapshot)
	if err != nil {
		return err
	}
	for _, l := range logs {
		h, size, err := headingOf(l.Path, format)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", l.Path, err)
		case size > int64(len(h.Bytes)):
			return fmt.Errorf("%s: missing, and it would name the newest log: restore the file from a copy", path)
		}
	}
	if len(snapshots) > 0 {
		last := snapshots[len(snapshots)-1]
		return fmt.Errorf("%s: %s %d and the log from there on should follow, which is missing: restore the file from a copy",
			last.Path, format.SnapshotPlace, last.Place+1)
	}
	return nil
}
