package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/etcd"
)

// Given returns the service at a URL, which the caller has to close. The service must have an address,
// and needs no token.
func Given(target string) (drivers.Service, error) {
	t, err := backends.Parse(target)
	if err != nil {
		return nil, err
	}
	if !t.Given() {
		return nil, fmt.Errorf("control plane %q: want the address of a running service, such as etcd://host:2379/bench", target)
	}
	return t.Open(context.Background()) // it starts nothing
}

// Protected returns the service of a [Member], by its URL and its token.
func Protected(target string, t Token) (drivers.Service, error) {
	place, found := strings.CutPrefix(target, "etcd://")
	host, prefix, hasPrefix := strings.Cut(place, "/")
	if !found || !hasPrefix || host == "" || prefix == "" {
		return nil, fmt.Errorf("control plane %q: want the address that stampede run --agents printed, such as etcd://host:2379/stampede", target)
	}
	s, err := etcd.New(etcd.Config{
		Endpoints: []string{host}, Prefix: "/" + prefix, TLS: t.tls(), Username: user, Password: drivers.Secret(t.secret()),
	})
	if err != nil {
		return nil, err
	}
	return protected{s, t}, nil
}

// A protected is the service of a [Member].
type protected struct {
	*etcd.Service
	token Token
}
