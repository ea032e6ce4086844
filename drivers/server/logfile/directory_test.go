package logfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignDirectories opens directories that are not a server's: those of Apache ZooKeeper must be refused and
// left as they are.
func TestForeignDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		files   []string
		refused string // a part of the error; "" if it is opened
	}{
		"none":                        {nil, ""},
		"a file system's":             {[]string{"lost+found/", ".snapshots/"}, ""},
		"a server's":                  {[]string{"lock", "notes.txt"}, ""},
		"a server's without its lock": {[]string{"log-1", "current"}, ""},
		"ZooKeeper's dataDir":         {[]string{"myid", "version-2/"}, "it has myid, version-2, and no file of a server"},
		"ZooKeeper's log":             {[]string{"log.1", "snapshot.0"}, "it has log.1, snapshot.0, and"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range c.files {
				path := dir + "/" + f
				err := os.MkdirAll(filepath.Dir(path+"x"), 0o700)
				if err == nil && !strings.HasSuffix(f, "/") {
					err = os.WriteFile(path, nil, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			d, err := OpenDirectory(System{}, dir)
			if c.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				d.Close()
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%v, want %q", err, c.refused)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != len(c.files) {
				t.Errorf("%v files and %v, want the %d from before", left, err, len(c.files))
			}
		})
	}
}
