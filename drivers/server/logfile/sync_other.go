//go:build !linux

package logfile

import "os"

// syncData returns when the file's bytes and its length are on disk.
func syncData(f *os.File) error { return f.Sync() }
