package metrics

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Cores returns how many processors this process may use at the same time: those of its affinity,
// which a cpuset bounds, as far as the quota of its control group and GOMAXPROCS permit. A quota may
// end in a fraction.
func Cores() float64 {
	cores := float64(runtime.GOMAXPROCS(0))
	if proc, err := procfs.NewDefaultFS(); err == nil {
		if p := processorsOf(proc, "/"); len(p.allowed) > 0 {
			cores = min(cores, p.count())
		}
	}
	return cores
}

// processors are what a process and those that it starts may use.
type processors struct {
	allowed []int   // by the kernel's numbers, ascending; empty where the kernel does not tell
	quota   float64 // of the control group; math.Inf(1) if there is none
	used    float64 // by all processes that share the quota, in seconds of processor time so far
}

// count returns how many processors can be in use at the same time.
func (p processors) count() float64 { return min(float64(len(p.allowed)), p.quota) }

// processorsOf reads what this process may use. The mount points of control groups are below root.
func processorsOf(proc procfs.FS, root string) processors {
	p := processors{quota: math.Inf(1)}
	self, err := proc.Self()
	if err != nil {
		return p
	}
	if status, err := self.NewStatus(); err == nil { // its list is the affinity within the cpuset
		for _, n := range status.CpusAllowedList {
			p.allowed = append(p.allowed, int(n))
		}
	}
	for _, v := range []struct{ controller, counter, file string }{{"", "", "cpu.stat"}, {"cpu", "cpuacct", "cpuacct.usage"}} {
		mount, group := controlGroup(self, v.controller)
		counts, _ := controlGroup(self, v.counter)                                              // version 1 may count in another hierarchy
		for below := ""; mount != "" && group != below; below, group = group, path.Dir(group) { // to the root
			if q := quotaOf(filepath.Join(root, mount, group)); q < p.quota {
				p.quota, p.used = q, usedBy(filepath.Join(root, counts, group, v.file))
			}
		}
	}
	return p
}

// controlGroup returns where the hierarchy of a controller is mounted, and the path of the process's
// group below that, both "" if there is none. Controller "" is version 2, which has one hierarchy for all.
func controlGroup(self procfs.Proc, controller string) (mount, group string) {
	groups, err := self.Cgroups()
	if err != nil {
		return "", ""
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return "", ""
	}
	for _, g := range groups {
		if (g.HierarchyID != 0 || controller != "") && !slices.Contains(g.Controllers, controller) {
			continue
		}
		for _, m := range mounts {
			_, has := m.SuperOptions[controller]
			if controller == "" && m.FSType == "cgroup2" || controller != "" && m.FSType == "cgroup" && has {
				// In a container the mount may begin at the container's own group.
				below := strings.TrimPrefix(g.Path, strings.TrimSuffix(m.Root, "/"))
				return m.MountPoint, path.Join("/", below)
			}
		}
	}
	return "", ""
}

// quotaOf returns the quota of one control group, of either version, in processors.
func quotaOf(group string) float64 {
	limit, period, _ := strings.Cut(text(filepath.Join(group, "cpu.max")), " ")
	if limit == "" {
		limit, period = text(filepath.Join(group, "cpu.cfs_quota_us")), text(filepath.Join(group, "cpu.cfs_period_us"))
	}
	most, err := strconv.ParseFloat(limit, 64) // no number: "max"
	every, _ := strconv.ParseFloat(period, 64)
	if err != nil || most <= 0 || every <= 0 {
		return math.Inf(1)
	}
	return most / every
}

// usedBy returns the processor time of a control group in seconds, 0 where it is not counted.
func usedBy(file string) float64 {
	counted := text(file)
	if ns, err := strconv.ParseFloat(counted, 64); err == nil {
		return ns / 1e9
	}
	for line := range strings.SplitSeq(counted, "\n") {
		if us, is := strings.CutPrefix(line, "usage_usec "); is {
			n, _ := strconv.ParseFloat(us, 64)
			return n / 1e6
		}
	}
	return 0
}

// text returns the text of a file without the spaces around it, "" if it cannot be read.
func text(file string) string {
	b, _ := os.ReadFile(file)
	return strings.TrimSpace(string(b))
}
