package owner

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/internal/printable"
)

// A table remembers which processes have owned sockets: they are looked at first, and mostly those alone.
type table struct {
	known []int
	asks  bool // the kernel has answered for a single socket
}

// maxKnown is how many processes a table remembers.
const maxKnown = 256

// lookUp returns the owners of the sockets, by index, of those that are found and whose connections are still
// open.
func (t *table) lookUp(all []question) map[int]traffic.Process {
	inodes := map[string]int{}
	for i, inode := range ask(all) {
		inodes[linkTo(inode)], t.asks = i, true
	}
	if !t.asks {
		inodes = inodesOf(all)
	}
	for inode, i := range inodes {
		if !all[i].open() { // the socket in the table may be that of a later connection
			delete(inodes, inode)
		}
	}
	found := map[int]traffic.Process{}
	for _, pid := range t.known {
		t.claim(pid, inodes, found)
	}
	if len(inodes) > 0 {
		for _, pid := range processes() {
			if len(inodes) > 0 && !slices.Contains(t.known, pid) {
				t.claim(pid, inodes, found)
			}
		}
	}
	return found
}

// claim moves the sockets that the process has open from the inodes to what was found.
func (t *table) claim(pid int, inodes map[string]int, found map[int]traffic.Process) {
	if len(inodes) == 0 {
		return
	}
	links, err := openBy(pid)
	if err != nil {
		t.known = slices.DeleteFunc(slices.Clone(t.known), func(k int) bool { return k == pid })
		return // it has ended, or is another user's
	}
	var p traffic.Process
	for link := range links {
		i, asked := inodes[link]
		if !asked {
			continue
		}
		if p.ID == 0 {
			if p = process(pid); p.ID == 0 {
				return // it has ended
			}
			if !slices.Contains(t.known, pid) {
				t.known = append(slices.Clone(t.known[max(0, len(t.known)+1-maxKnown):]), pid)
			}
		}
		found[i] = p
		delete(inodes, link)
	}
}

// openBy yields what the descriptors of a process refer to, "" for one that was closed meanwhile.
func openBy(pid int) (iter.Seq[string], error) {
	folder := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	descriptors, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer descriptors.Close()
	names, _ := descriptors.Readdirnames(0) // what it has read before an error is right
	return func(yield func(string) bool) {
		for _, name := range names {
			if link, _ := os.Readlink(filepath.Join(folder, name)); !yield(link) {
				return
			}
		}
	}, nil
}

// processes returns the numbers of all processes, in their order: of several that have inherited a socket the
// first is mostly the one that opened it.
func processes() (all []int) {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(0) // what it has read before an error is right
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all
}

// blanks are the characters that would end a line or a cell of a table.
var blanks = strings.NewReplacer("\n", " ", "\t", " ")

// process returns what is known of a process, nothing if it has ended.
func process(pid int) traffic.Process {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return traffic.Process{}
	}
	// The second field is the name, in parentheses. It may have any characters, also blanks and parentheses.
	const startTime = 22
	from, to := bytes.IndexByte(status, '('), bytes.LastIndexByte(status, ')')
	if from < 0 || to < from {
		return traffic.Process{}
	}
	fields := strings.Fields(string(status[to+1:]))
	if len(fields) <= startTime-3 || fields[0] == "Z" { // it has ended, and its parent has not noticed yet
		return traffic.Process{}
	}
	started, err := strconv.ParseUint(fields[startTime-3], 10, 64)
	if err != nil {
		return traffic.Process{}
	}
	return traffic.Process{ID: pid, Started: started, Name: printable.Text(blanks.Replace(string(status[from+1 : to])))}
}

// Ended reports whether the process has ended.
func Ended(p traffic.Process) bool { return process(p.ID).Started != p.Started }

// linkTo returns the text by which a descriptor refers to a socket.
func linkTo(inode string) string { return "socket:[" + inode + "]" }

// inodesOf returns the indexes of the sockets by the text by which a descriptor refers to them. It is for
// systems without sock_diag: the kernel walks through all its buckets of sockets, which takes tens of
// milliseconds.
func inodesOf(all []question) map[string]int {
	wanted := map[string]int{} // by the addresses as the kernel writes them
	for i, q := range all {
		wanted[kernelText(q.local)+" "+kernelText(q.remote)] = i
		wanted[mappedText(q.local)+" "+mappedText(q.remote)] = i
	}
	inodes := map[string]int{}
	for line := range socketLines() {
		if inode, i, is := socketIn(line, wanted); is {
			inodes[linkTo(inode)] = i
		}
	}
	return inodes
}

// socketLines yields the lines of the kernel's tables of TCP sockets, as far as it can read them. A line is valid until the
// next one.
func socketLines() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			file, err := os.Open(name)
			if err != nil {
				continue // no IPv6
			}
			defer file.Close()
			for lines := bufio.NewScanner(file); lines.Scan(); {
				if !yield(lines.Bytes()) {
					return
				}
			}
		}
	}
}

// socketIn returns the inode of the socket in a line of the kernel's table if it is wanted, and which one it
// is. One that no process has open any more has the inode 0.
func socketIn(line []byte, wanted map[string]int) (inode string, index int, is bool) {
	const local, remote, number = 1, 2, 9
	fields := bytes.Fields(line)
	if len(fields) <= number || string(fields[number]) == "0" {
		return "", 0, false
	}
	index, is = wanted[string(fields[local])+" "+string(fields[remote])]
	return string(fields[number]), index, is
}

// kernelText returns the address as /proc/net/tcp and /proc/net/tcp6 write it: words of four bytes as numbers
// of the machine.
func kernelText(a netip.AddrPort) string {
	var b strings.Builder
	for word := range slices.Chunk(a.Addr().AsSlice(), 4) {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(word))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}

// mappedText is kernelText of an address of IPv4 that a socket of IPv6 has.
func mappedText(a netip.AddrPort) string {
	return kernelText(netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port()))
}
