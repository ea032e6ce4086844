package results

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// ThisHost describes this machine. Fields that cannot be determined are empty.
func ThisHost() Host {
	h := Host{OS: runtime.GOOS, Cores: runtime.GOMAXPROCS(0)}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(b))
	}
	h.CPU = procField("/proc/cpuinfo", "model name")
	var kib int64
	if _, err := fmt.Sscanf(procField("/proc/meminfo", "MemTotal"), "%d kB", &kib); err == nil {
		h.MemoryBytes = kib << 10
	}
	return h
}

// procField returns the value of the first line "name : value" in a file of /proc.
func procField(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
