package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// size is that of a file system in bytes. Its image takes as much of the disk as was written to it. The logs
// that ZooKeeper and etcd allocate at once take 64 MB each.
const size = 1 << 30

// Possible returns nil if this process can make file systems and freeze them, or one line that says what is missing.
func Possible() error {
	if os.Geteuid() != 0 {
		return errors.New("it takes root, which mounts and freezes file systems")
	}
	for _, tool := range []string{"mkfs.ext4", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("it takes the program %s", tool)
		}
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		return errors.New("it takes loop devices (/dev/loop-control)")
	}
	return nil
}

// image is the file behind the file system at a directory.
func image(dir string) string { return dir + ".img" }

// Make mounts a new file system at the directory, which exists.
func Make(ctx context.Context, dir string) error {
	f, err := os.OpenFile(image(dir), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"mkfs.ext4", "-q", "-F", "-m", "0", image(dir)},
		{"mount", "-o", "loop", image(dir), dir},
	} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command[0], err, strings.Join(strings.Fields(string(out)), " "))
		}
	}
	return nil
}

// Remove thaws and unmounts all file systems that Make has made below a directory.
func Remove(below string) error {
	all, err := mounts()
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range all {
		if !strings.HasPrefix(m.dir, below+"/") || m.ours() != nil {
			continue
		}
		if f, err := os.Open(m.dir); err == nil {
			_ = unix.IoctlSetInt(int(f.Fd()), fiThaw, 0) // fails if it is not frozen
			f.Close()
		}
		// A killed process closes its files one by one, the pipe by which its end is known maybe before the last one
		// here: the file system leaves the tree at once, and ends with that file.
		if err := unix.Unmount(m.dir, unix.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("unmount %s: %w", m.dir, err))
		}
	}
	return errors.Join(errs...)
}

// Role is the name of the role that runs [Freeze].
const Role = "frozen-disk"

// The requests of linux/fs.h. Freezing waits until all writes in progress have ended.
const (
	fiFreeze = 0xC0045877
	fiThaw   = 0xC0045878
)

// Freeze freezes the file system at the directory that its argument names, announces the directory, and thaws it at
// the end of the context. It is an error if Make has not made the file system.
func Freeze(ctx context.Context, args []string, ready func(dir string)) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, want a directory", len(args))
	}
	f, err := open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.IoctlSetInt(int(f.Fd()), fiFreeze, 0); err != nil {
		return fmt.Errorf("freeze %s: %w", args[0], err)
	}
	ready(args[0])
	<-ctx.Done()
	if err := unix.IoctlSetInt(int(f.Fd()), fiThaw, 0); err != nil {
		return fmt.Errorf("thaw %s: %w", args[0], err)
	}
	return nil
}

// open opens the root of a file system that Make has made.
func open(dir string) (*os.File, error) {
	all, err := mounts()
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("%s is not where a file system is mounted", dir)
	for _, m := range all {
		if m.dir == dir { // the last one is on top
			err = m.ours()
		}
	}
	if err != nil {
		return nil, err
	}
	return os.Open(dir)
}

// A mount is a line of /proc/self/mountinfo.
type mount struct{ dir, device, source string }

// ours returns nil if Make has made the mount.
func (m mount) ours() error {
	backing, err := os.ReadFile(filepath.Join("/sys/dev/block", m.device, "loop/backing_file"))
	if err != nil {
		return fmt.Errorf("%s (%s) is no file system of a loop device", m.dir, m.source)
	}
	if file := strings.TrimSpace(string(backing)); file != image(m.dir) {
		return fmt.Errorf("%s is a file system of the image %s, want %s", m.dir, file, image(m.dir))
	}
	return nil
}

func mounts() (all []mount, err error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		of, rest, _ := strings.Cut(line, " - ")
		own, options := strings.Fields(of), strings.Fields(rest)
		if len(own) < 5 || len(options) < 2 {
			return nil, fmt.Errorf("/proc/self/mountinfo: unexpected line %q", line)
		}
		all = append(all, mount{dir: spaces.Replace(own[4]), device: own[2], source: options[1]})
	}
	return all, nil
}

// spaces replaces what /proc escapes.
var spaces = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
