package wal

import (
	"errors"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// version is the version of the files.
const version = 2

// formatOf returns the format of the files of a kind.
func formatOf(kind string) logfile.Format {
	return logfile.Format{Kind: kind, Version: version, Rules: tree.Rules, Place: "zxid", SnapshotPlace: "zxid"}
}

// Open creates the directory if it is missing and recovers the tree from its files. It fails if
// another server uses the directory, or if a file is missing or damaged, except for the end of the
// newest log. When it returns, everything that it recovered is on disk.
func Open(dir string) (*Journal, error) { return OpenOn(logfile.System{}, dir) }

// OpenOn is Open with a disk for writing.
func OpenOn(d logfile.Disk, dir string) (*Journal, error) { return openWith(d, dir, standard) }

func openWith(d logfile.Disk, dir string, l limits) (*Journal, error) {
	locked, err := logfile.OpenDirectory(d, dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: locked, limits: l}
	if err := j.recover(); err != nil {
		return nil, errors.Join(err, locked.Close())
	}
	j.start()
	return j, nil
}
