package zookeeper

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/stampede-bench/stampede/drivers/cluster"
)

// RunMember runs an Apache ZooKeeper server of this machine's installation at place p, until
// the context ends. It announces the process id of the server when its process runs; [Serves]
// reports when the server serves.
//
// ZooKeeper syncs every write to disk by default.
func RunMember(ctx context.Context, p cluster.Place, announce func(pid string)) error {
	from, err := FindInstallation()
	if err != nil {
		return err
	}
	if err := writeMember(p); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(p.Dir, logName))
	if err != nil {
		return err
	}
	defer log.Close()
	server := from.Command(ctx, p.Dir, log)
	if len(p.Members) > 1 {
		server.Args = slices.Insert(server.Args, slices.Index(server.Args, "-cp"), memberFlags(p)...)
	}
	// The kernel ties a child's death signal to the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := server.Start(); err != nil {
		return err
	}
	announce(strconv.Itoa(server.Process.Pid))
	server.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("ZooKeeper ended (%v): %s", server.ProcessState, lastWords(log.Name()))
}

// memberHeap is the JVM's heap for one of several members: five of them must fit on a machine
// with 4 GB.
const memberHeap = "-Xmx256m"

// memberFlags returns the JVM's flags for one of several members. If there is a proxy, all
// connections that the server makes go through it. That includes those to this machine, which
// Java excludes unless the list of exclusions is empty.
func memberFlags(p cluster.Place) []string {
	flags := []string{memberHeap}
	if p.Proxy == "" {
		return flags
	}
	host, port, err := net.SplitHostPort(p.Proxy)
	if err != nil {
		panic(err) // it is the address of a listener
	}
	return append(flags, "-DsocksProxyHost="+host, "-DsocksProxyPort="+port, "-DsocksNonProxyHosts=")
}
