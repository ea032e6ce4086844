package disktest

import "github.com/stampede-bench/stampede/drivers/server/logfile"

// An Unsynced disk is fast: its syncs do nothing.
type Unsynced struct{ logfile.System }

type unsyncedFile struct{ logfile.File }

// Create creates a file whose syncs do nothing.
func (Unsynced) Create(path string) (logfile.File, error) {
	f, err := logfile.System{}.Create(path)
	return unsyncedFile{f}, err
}

// SyncDirectory does nothing.
func (Unsynced) SyncDirectory(string) error { return nil }

func (unsyncedFile) Sync() error { return nil }
