package local

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stampede-bench/stampede/drivers/child"
)

// A Place is what a member is told when it is started.
type Place struct {
	Number     int         `json:"number"`     // which of the members it is, from 1
	Members    []Addresses `json:"members"`    // of all, in order
	Durability string      `json:"durability"` // one of its backend's
	// Proxy is the SOCKS5 proxy, host:port, through which alone the member calls the
	// others; "" where it calls them directly. There the host of an address does not
	// matter, only the port does.
	Proxy string `json:"proxy,omitempty"`
	// Dir is the member's own directory, which is there and, but for what the
	// member left in it, empty; "" where it keeps nothing.
	Dir string `json:"dir"`
	// Certificate is the PEM file with the member's certificate and key; "" where it
	// speaks no TLS.
	Certificate string `json:"certificate,omitempty"`
}

// Addresses are where a member listens, host:port each: for clients, for the other
// members, and for their votes where that is a port of its own.
type Addresses struct {
	Clients string `json:"clients"`
	Peers   string `json:"peers"`
	Votes   string `json:"votes"`
}

// Own are the member's own addresses.
func (p Place) Own() Addresses { return p.Members[p.Number-1] }

// argument is the place as a child is given it.
func (p Place) argument() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // of numbers and texts there is no such error
	}
	return string(text)
}

// InPlace is the role of what runs in a place and announces the id of the process
// that serves.
func InPlace(run func(ctx context.Context, p Place, announce func(pid string)) error) child.Role {
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
