package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/stampede-bench/stampede/drivers/child"
)

// RunLocal runs an Apache ZooKeeper server of this machine's installation on a
// free port of 127.0.0.1 until the context ends. It calls ready with the
// server's address once the server takes sessions.
//
// The server's data is in a temporary directory (TMPDIR says where), which is
// removed with it; every write is fsynced there, as ZooKeeper does by default.
func RunLocal(ctx context.Context, ready func(addr string)) error {
	from, err := FindInstallation()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "stampede-zookeeper-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for range 5 {
		var addr string
		if addr, err = child.FreeAddr(); err != nil {
			return err
		}
		if err = runAt(ctx, from, dir, addr, ready); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// errPortTaken: between our choice of a port and the server's use of it
// somebody else took it.
var errPortTaken = errors.New("every port chosen for ZooKeeper was taken before it could listen")

// runAt is RunLocal at one address.
func runAt(ctx context.Context, from Installation, dir, addr string, ready func(addr string)) error {
	if err := WriteConfig(dir, addr); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, logName))
	if err != nil {
		return err
	}
	defer log.Close()
	server := from.Command(ctx, dir, log)
	probing, stopProbing := context.WithCancel(ctx)
	defer stopProbing()
	go func() {
		if serving(probing, addr, dir) {
			ready(addr)
		}
	}()
	err = runHere(server)
	switch {
	case ctx.Err() != nil:
		return nil
	case server.ProcessState == nil:
		return err // it did not even start
	case !free(addr):
		return errPortTaken
	}
	return fmt.Errorf("ZooKeeper ended (%v): %s", server.ProcessState, lastWords(log.Name()))
}

// runHere runs the command to its end on one thread: the kernel ties a child's
// death signal to the thread that started it.
func runHere(c *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return c.Run()
}

func free(addr string) bool {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	l.Close()
	return true
}
