package imports

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// etcdServer begins the paths of the packages of etcd's server, which add 30 MB to a program and seconds to its link.
const etcdServer = "go.etcd.io/etcd/server/"

// reachEtcd are the packages that may reach it, by themselves or in their tests: what runs it, programs, and the roles that
// they have. Other tests start it in the program of package clustertest.
var reachEtcd = []string{
	"cmd/stampede", "drivers/backends/roles", "drivers/cluster/clustertest/servers", "drivers/etcd/member",
	"examples/ownlock", "internal/serverbench",
}

// etcdViolations returns the packages that reach etcd's server and may not, and those that may and do not.
func etcdViolations(all map[string]*goPackage, may []string) (found []string) {
	for name, p := range all {
		reached := append(reach(all, name), name)
		for _, imported := range p.testImports {
			reached = append(append(reached, imported), reach(all, imported)...)
		}
		does := p.testsEtcdServer || slices.ContainsFunc(reached, func(r string) bool { return all[r] != nil && all[r].etcdServer })
		switch {
		case does && !slices.Contains(may, name):
			found = append(found, name+" or its test reaches etcd's server, which only "+strings.Join(may, ", ")+" may")
		case !does && slices.Contains(may, name):
			found = append(found, name+" may reach etcd's server and does not: remove it from the list")
		}
	}
	slices.Sort(found)
	return found
}

func TestFewPackagesReachEtcdsServer(t *testing.T) {
	all, err := packages(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range etcdViolations(all, reachEtcd) {
		t.Error(v)
	}
}

func TestReachingEtcdsServerIsFound(t *testing.T) {
	source := func(imported string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(fmt.Sprintf("package p\n\nimport %q\n", imported))}
	}
	all, err := packages(fstest.MapFS{
		"member/member.go":       source(etcdServer + "v3/embed"),
		"roles/roles.go":         source(module + "member"),
		"suite/suite.go":         source("fmt"),
		"suite/suite_test.go":    source(module + "roles"),
		"user/user.go":           source(module + "suite"), // the tests of what it imports are not in it
		"direct/direct_test.go":  source(etcdServer + "v3/embed"),
		"client/client.go":       source("go.etcd.io/etcd/client/v3"),
		"forgotten/forgotten.go": source("fmt"),
	})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, etcdViolations(all, []string{"forgotten", "member"}), []string{
		"direct or its test reaches etcd's server, which only forgotten, member may",
		"forgotten may reach etcd's server and does not: remove it from the list",
		"roles or its test reaches etcd's server, which only forgotten, member may",
		"suite or its test reaches etcd's server, which only forgotten, member may",
	})
}
