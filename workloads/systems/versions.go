package systems

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/workloads/costmodel"
)

// A Version is a version of a system that was looked at.
type Version struct {
	Name string // "5.4.0", or the date of a commit if its release is not known, "" if neither is
	// Counted reports that it was run and its requests and notifications were counted. Otherwise its source
	// was read.
	Counted bool
	Instead string // what it does instead if the row does not hold for it, "" if the row does
}

func counted(name string) Version { return Version{Name: name, Counted: true} }
func read(name string) Version    { return Version{Name: name} }

// Versions of libraries that several rows are about, from the oldest.
var (
	curatorVersions   = []Version{counted("5.4.0"), read("5.9.1-SNAPSHOT")}
	kazooVersions     = []Version{counted("2.8.0"), read("2.11.0")}
	zookeeperVersions = []Version{counted("3.8.0"), read("3.10.0-SNAPSHOT")}
	etcdVersions      = []Version{counted("3.7.3"), read("2026-08-20")}
	oneCommit         = []Version{read("")}
)

// HoldsFor says in words for which versions the row holds, and how that is known.
func (s System) HoldsFor() string {
	var holds, not []string
	for _, v := range s.Versions {
		name, how := v.Name, "read"
		if name == "" {
			name = "commit " + s.Source.Commit[:7]
		}
		if v.Counted {
			how = "counted"
		}
		if v.Instead != "" {
			not = append(not, fmt.Sprintf("; not for %s (%s)", name, how))
			continue
		}
		holds = append(holds, fmt.Sprintf("%s (%s)", name, how))
	}
	return strings.Join(holds, " to ") + strings.Join(not, "")
}

// A Span has the least and the most notifications of one change, for which the order of the members decides.
type Span struct{ Least, Most costmodel.Polynomial }

// A Recording is traffic of the library itself in examples/observe/corpus. A decoder that knows nothing of
// this table counted its notifications.
type Recording struct {
	Item    string // "first/curator-mutex"
	Version string // of the system, one that was counted; "" if another program stands in for it
	Members int
	Changes int // with all members there
	Fewer   int // further ones with fewer members, such as when they end one after the other
	// Notifications of all these changes.
	Notifications int
}

var line = costmodel.Line

const watchedList = "every member watches the list of the cluster's nodes, which each change of the leader changes, and they race"
