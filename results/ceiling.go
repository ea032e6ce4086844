package results

import (
	"fmt"
	"io"
)

// A Ceiling is the request rate that the load generator reaches against a server that does nothing:
// a limit of the generator, its client library and the machine.
type Ceiling struct {
	Client       string  `json:"client"` // the client library
	Sessions     int     `json:"sessions"`
	InFlight     int     `json:"in_flight"` // requests in flight per session
	RequestsPerS float64 `json:"requests_per_s"`
	CPUCores     float64 `json:"cpu_cores"`    // used by the generator
	ServerCores  float64 `json:"server_cores"` // used by the server
}

// ceilings returns the table of the ceilings.
func (c Calibration) ceilings() *grid {
	g := &grid{columns: []column{{head: "client", left: true}, {head: "sessions", space: 3}, {head: "in flight each", space: 3}, {head: "requests/s", space: 3},
		{head: "generator", space: 3}, {head: "server", space: 3}}}
	for _, l := range c.Ceilings {
		g.rows = append(g.rows, []string{l.Client, Count(int64(l.Sessions)), Count(int64(l.InFlight)), Rate(l.RequestsPerS),
			fmt.Sprintf("%.1f cores", l.CPUCores), fmt.Sprintf("%.1f cores", l.ServerCores)})
	}
	return g
}

// highest names the client library with the highest request rate.
func (c Calibration) highest() string {
	best := c.Ceilings[0]
	for _, l := range c.Ceilings {
		if l.RequestsPerS > best.RequestsPerS {
			best = l
		}
	}
	return fmt.Sprintf("This generator makes at most %s requests/s on this machine, with the client %s and a server that does nothing.",
		Rate(best.RequestsPerS), best.Client)
}

// nearness says how close the runs came to the generator's ceiling: it reports the run that used the
// largest share of it. It writes nothing if no ceiling is known.
func nearness(w io.Writer, runs []Run) {
	var nearest Generator
	client := ""
	for _, r := range runs {
		if g := r.Generator; g.CeilingPerS > 0 && (client == "" || g.RequestsPerS/g.CeilingPerS > nearest.RequestsPerS/nearest.CeilingPerS) {
			nearest, client = g, r.Backend.Client
		}
	}
	if client != "" {
		fmt.Fprintf(w, "  generator: up to %s requests/s, %s of the %s that it makes with the client %s of a server that does nothing\n",
			Rate(nearest.RequestsPerS), shareOf(nearest.RequestsPerS/nearest.CeilingPerS), Rate(nearest.CeilingPerS), client)
	}
}
