package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

// A Place holds the settings with which a member is started.
type Place struct {
	Number     int         `json:"number"`     // the member's number, from 1
	Members    []Addresses `json:"members"`    // addresses of all members, in order
	Durability string      `json:"durability"` // one of the backend's durabilities
	// Proxy is the address, host:port, of the SOCKS5 proxy for all the member's connections to
	// others; "" if it connects directly. The proxy ignores the host of a requested address and
	// uses only the port.
	Proxy string `json:"proxy,omitempty"`
	// Dir is the member's own directory. It exists and contains only what the member has left in
	// it; "" if the member stores nothing.
	Dir string `json:"dir"`
	// Certificate is the PEM file with the member's certificate and key; "" without TLS.
	Certificate string `json:"certificate,omitempty"`
	// Secret is the file with the secret that the members of the ensemble share; "" without one.
	Secret string `json:"secret,omitempty"`
}

// Addresses are the addresses at which a member listens, each host:port: for clients, for the other
// members, and for votes if these have a port of their own.
type Addresses struct {
	Clients string `json:"clients"`
	Peers   string `json:"peers"`
	Votes   string `json:"votes"`
}

// Own returns the member's own addresses.
func (p Place) Own() Addresses { return p.Members[p.Number-1] }

// argument encodes the place as a child's argument.
func (p Place) argument() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers and strings always encode
	}
	return string(text)
}

// InPlace returns a role that runs at a place and announces the process ID of the server.
func InPlace(run func(ctx context.Context, p Place, announce func(pid string)) error) reexec.Role {
	return func(ctx context.Context, args []string, ready func(string)) error {
		p, err := parsePlace(args)
		if err != nil {
			return err
		}
		return run(ctx, p, ready)
	}
}

func parsePlace(args []string) (p Place, err error) {
	if len(args) != 1 {
		return p, fmt.Errorf("%d arguments, want a place", len(args))
	}
	if err := json.Unmarshal([]byte(args[0]), &p); err != nil {
		return p, fmt.Errorf("place %s: %w", args[0], err)
	}
	if p.Number < 1 || p.Number > len(p.Members) {
		return p, fmt.Errorf("place %d of %d, want one of them", p.Number, len(p.Members))
	}
	return p, nil
}
