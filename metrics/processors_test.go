package metrics

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"
)

// TestProcessorsOf reads what a process may use from the files that the kernel shows it.
func TestProcessorsOf(t *testing.T) {
	const (
		unified = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		own     = "30 24 0:26 /kubepods/pod1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" // a container's own group
		legacy  = "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" +
			"32 24 0:28 / /sys/fs/cgroup/acct rw - cgroup cgroup rw,cpuacct\n"
	)
	type files = map[string]string
	for name, c := range map[string]struct {
		cgroup, mounts, allowed string
		files                   files
		want                    processors
		count                   float64
	}{
		"no group": {"", "", "0-3", nil, processors{[]int{0, 1, 2, 3}, math.Inf(1), 0}, 4},
		"affinity": {"", "", "0,2-3,9", nil, processors{[]int{0, 2, 3, 9}, math.Inf(1), 0}, 4},
		"version 2": {"0::/a/b\n", unified, "0-3", files{"sys/fs/cgroup/a/b/cpu.max": "150000 100000\n",
			"sys/fs/cgroup/a/b/cpu.stat": "usage_usec 2500000\nuser_usec 1\n"}, processors{[]int{0, 1, 2, 3}, 1.5, 2.5}, 1.5},
		"version 2, a group above": {"0::/a/b\n", unified, "0-3", files{"sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
			"sys/fs/cgroup/a/cpu.max": "50000 100000\n", "sys/fs/cgroup/a/cpu.stat": "nr_periods 1\nusage_usec 4000000\n"}, processors{[]int{0, 1, 2, 3}, 0.5, 4}, 0.5},
		"version 2, in a container": {"0::/\n", unified, "0-1", files{"sys/fs/cgroup/cpu.max": "20000 10000\n"}, processors{[]int{0, 1}, 2, 0}, 2},
		"version 2, of the host": {"0::/kubepods/pod1\n", own, "0-7", files{"sys/fs/cgroup/cpu.max": "200000 100000\n"},
			processors{[]int{0, 1, 2, 3, 4, 5, 6, 7}, 2, 0}, 2},
		"version 2, no limit": {"0::/\n", unified, "0", files{"sys/fs/cgroup/cpu.max": "max 100000\n"}, processors{[]int{0}, math.Inf(1), 0}, 1},
		"version 1": {"5:cpu:/a\n6:cpuacct:/a\n0::/\n", legacy, "0-3", files{"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "250000\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n", "sys/fs/cgroup/acct/a/cpuacct.usage": "3000000000\n"}, processors{[]int{0, 1, 2, 3}, 2.5, 3}, 2.5},
		"version 1, no limit": {"5:cpu:/\n6:cpuacct:/\n", legacy, "1-2", files{"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, processors{[]int{1, 2}, math.Inf(1), 0}, 2},
		"a quota above the affinity": {"0::/\n", unified, "5", files{"sys/fs/cgroup/cpu.max": "800000 100000\n"}, processors{[]int{5}, 8, 0}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			all := files{"proc/7/status": "Name:\tx\nCpus_allowed_list:\t" + c.allowed + "\n", "proc/7/cgroup": c.cgroup, "proc/7/mountinfo": c.mounts}
			for _, more := range []files{all, c.files} {
				for path, text := range more {
					path = filepath.Join(root, path)
					os.MkdirAll(filepath.Dir(path), 0o700)
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.Symlink("7", filepath.Join(root, "proc/self")); err != nil {
				t.Fatal(err)
			}
			proc, err := procfs.NewFS(filepath.Join(root, "proc"))
			if err != nil {
				t.Fatal(err)
			}
			got := processorsOf(proc, root)
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(processors{})); d != "" || got.count() != c.count {
				t.Errorf("%g processors, want %g; %s", got.count(), c.count, d)
			}
		})
	}
}
