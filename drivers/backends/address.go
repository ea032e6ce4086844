package backends

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// Address returns the URL by which another process opens sessions like those of an opened service,
// also on servers that were started for it. It needs the service's [Security] as well.
func Address(s drivers.Service) (string, error) {
	o, ok := s.(interface{ openedTarget() opened })
	if !ok {
		return "", fmt.Errorf("%s: no other process can reach it", s.Info().URL)
	}
	return o.openedTarget().address()
}

// Security returns the TLS settings and the credentials of an opened service.
func Security(s drivers.Service) drivers.Security {
	if o, ok := s.(interface{ openedTarget() opened }); ok {
		return o.openedTarget().target.security
	}
	return drivers.Security{}
}

// ShareServer reports whether two opened services have a server in common, by its address.
func ShareServer(a, b drivers.Service) bool {
	one, ok := a.(interface{ openedTarget() opened })
	other, okToo := b.(interface{ openedTarget() opened })
	return ok && okToo && slices.ContainsFunc(one.openedTarget().servers, func(server string) bool {
		return slices.Contains(other.openedTarget().servers, server)
	})
}

func (s *zooKeeper) openedTarget() opened { return s.opened }

func (s *etcdService) openedTarget() opened { return s.opened }

func (o opened) address() (string, error) {
	t := o.target
	if t.encrypted {
		return "", errors.New("a service that was started with TLS can be used by this process only: name a service by its address")
	}
	query := url.Values{}
	set := func(k Key, value string) {
		if value != "" {
			query.Set(k.Name, value)
		}
	}
	set(reads, t.reads)
	if len(t.backend.clients) > 1 {
		set(library, t.client.name)
	}
	if t.sessionTimeout > 0 {
		set(sessionTimeout, t.sessionTimeout.String())
	}
	if len(o.servers) > 1 {
		set(clients, t.clients)
	}
	at := t.backend.Scheme + "://" + strings.Join(o.servers, ",") + t.chroot
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	return at, nil
}
