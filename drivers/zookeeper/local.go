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

	"github.com/stampede-bench/stampede/drivers/local"
)

// RunMember runs an Apache ZooKeeper server of this machine's installation in its
// place, until the context ends. It announces the id of the server's process when
// that runs; [Serves] tells when it serves.
//
// Every write is fsynced, as ZooKeeper does by default.
func RunMember(ctx context.Context, p local.Place, announce func(pid string)) error {
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
	// The kernel ties a child's death signal to the thread that started it.
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

// memberHeap is the JVM's where it is one of several: five of them must fit
// beside each other on a machine of 4 GB.
const memberHeap = "-Xmx256m"

// memberFlags are the JVM's for one of several. Through a proxy, where there is one,
// go all connections that the server makes, also those to this machine, which Java
// leaves out unless told that nobody is left out.
func memberFlags(p local.Place) []string {
	flags := []string{memberHeap}
	if p.Proxy == "" {
		return flags
	}
	host, port, err := net.SplitHostPort(p.Proxy)
	if err != nil {
		panic(err) // it is where somebody listens
	}
	return append(flags, "-DsocksProxyHost="+host, "-DsocksProxyPort="+port, "-DsocksNonProxyHosts=")
}
