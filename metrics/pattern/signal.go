package pattern

import (
	"fmt"

	"github.com/stampede-bench/stampede/metrics/observation"
)

// signals recognises a node whose changes make sessions race for another node, which they do not watch.
func signals(p *Pattern) observation.Form {
	if !p.signals() {
		return observation.Form{}
	}
	return observation.Form{Name: "signal before a race", Forms: []string{}, WaitFor: observation.Turn,
		Evidence: fmt.Sprintf("after %d of %d notifications the session tried once to write a node, lost to another one that was woken too, and waited for the next",
			p.outdone(), p.notifications())}
}

// signalsBelow recognises a node whose changed list makes sessions race for other nodes.
func signalsBelow(g group) (observation.Form, []*Pattern) { return signals(g.dir), []*Pattern{g.dir} }
