package agents

import (
	"errors"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// secureZooKeeper returns a ZooKeeper with TLS, a node of the user ann on it as the URL's path, and how to
// connect to it.
func secureZooKeeper(t *testing.T) (url string, s drivers.Security) {
	t.Helper()
	url, s, _ = secureZooKeeperAndStranger(t)
	return url, s
}

// secureZooKeeperAndStranger also returns settings with which nobody can connect.
func secureZooKeeperAndStranger(t *testing.T) (url string, s, stranger drivers.Security) {
	t.Helper()
	z := backendtest.SecureZooKeeper(t)
	z.Protect(t, "/bench", "ann", "hunter2")
	s = z.Security
	s.User, s.Password = "ann", "hunter2"
	return "zookeeper://" + z.Address + "/bench", s, z.Stranger
}

// TestAgentsGetCredentials divides runs on services with TLS and credentials. Only the coordinator was told of
// these.
func TestAgentsGetCredentials(t *testing.T) {
	testenv.SkipIfShort(t)
	for name, secure := range map[string]func(t *testing.T) (string, drivers.Security){
		"zookeeper": secureZooKeeper,
		"etcd": func(t *testing.T) (string, drivers.Security) {
			e := backendtest.SecureEtcd(t)
			e.ProtectKeys(t, "/bench", "ann", "hunter2")
			s := e.Security
			s.User, s.Password = "ann", "hunter2"
			return "etcd://" + e.Address + "/bench", s
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, security := secure(t)
			service := backendtest.Open(t, url, security)
			s := newStageOn(t, 2, member(t))
			p := planOf(t, service, "lock/predecessor", 4)
			r, _ := s.measure(t, p)
			checkRun(t, p, r)
			checkHerd(t, p, r)
			nothingLeft(t, service)
		})
	}
}

// TestOwnCredentialsTakePrecedence has agents whose own settings are wrong, although the coordinator gives the
// right ones, and agents that need their own, as the control plane keeps no secrets.
func TestOwnCredentialsTakePrecedence(t *testing.T) {
	testenv.SkipIfShort(t)
	url, security, wrong := secureZooKeeperAndStranger(t)
	service := backendtest.Open(t, url, security)
	p := planOf(t, service, "lock/predecessor", 4)

	s := newStageWith(t, 2, member(t), func(a *Agent) {
		if a.Name == "a2" {
			a.Security = wrong
		}
	})
	if _, _, err := s.fleet.Run(t.Context(), p); err == nil || !strings.HasPrefix(err.Error(), "agent a2: ") || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("the run ended with %v, want the refusal that agent a2 got", err)
	}
	nothingLeft(t, service)

	address := "native://" + backendtest.Native(t, server.Options{})
	plain := func(t *testing.T) drivers.Service { return backendtest.Open(t, address, drivers.Security{}) }
	for _, own := range []bool{false, true} {
		s := newStageWith(t, 2, plain, func(a *Agent) {
			if own {
				a.Security = security
			}
		})
		r, _, err := s.fleet.Run(t.Context(), p)
		if own && (err != nil || r.Rounds == 0) || !own && (!errors.Is(err, errCredentials) || !strings.HasPrefix(err.Error(), "agent a")) {
			t.Errorf("agents with credentials of their own: %v; the run ended with %v", own, err)
		}
		s.fleet.Close()
	}
	nothingLeft(t, service)
}
