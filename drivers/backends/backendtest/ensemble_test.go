package backendtest_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// What holds on one native server holds for sessions of both clients that are spread over three.
// The suite of order uses one session; it takes long, so that only one client runs it. In the suites
// of persistent watches one session watches what another changes at the same time. A member that has
// not applied a change when a watch is armed reports it afterwards, so all sessions of these suites
// are on one member, also after a reconnect.
func TestSuitesOnNativeServers(t *testing.T) {
	testenv.SkipIfShort(t)
	on := func(client string) string {
		address, err := backends.Address(backendtest.Own(t, "native:?servers=3&client="+client))
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	open := func(url string) func(*testing.T) drivers.Service {
		return func(t *testing.T) drivers.Service { return backendtest.Open(t, url, drivers.Security{}) }
	}
	lean, library := open(on("lean")), open(on("go-zookeeper"))
	t.Run("lean", func(t *testing.T) { drivertest.Run(t, lean) })
	t.Run("lean, order", func(t *testing.T) { drivertest.RunOrdered(t, lean) })
	t.Run("lean, persistent watches", func(t *testing.T) { drivertest.RunPersistent(t, open(oneMember(t, on("lean")))) })
	t.Run("go-zookeeper", func(t *testing.T) { drivertest.Run(t, library) })
}

// oneMember returns the URL of an ensemble's first member.
func oneMember(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, _, _ = strings.Cut(u.Host, ",")
	return u.String()
}
