package agents

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
)

// credentials are the TLS settings and the credentials of the service under test, as the coordinator gives
// them to agents. Unlike a [drivers.Security], it is encoded with its secrets.
type credentials struct {
	CA, Cert, Key, ServerName, User, Password string
	CAContent, CertContent, KeyContent        string
}

func credentialsOf(s drivers.Security) (credentials, error) {
	s, err := s.WithContents()
	return credentials{
		CA: s.CA, Cert: s.Cert, Key: s.Key, ServerName: s.ServerName, User: s.User, Password: string(s.Password),
		CAContent: string(s.Contents.CA), CertContent: string(s.Contents.Cert), KeyContent: string(s.Contents.Key),
	}, err
}

func (c credentials) security() drivers.Security {
	return drivers.Security{
		CA: c.CA, Cert: c.Cert, Key: c.Key, ServerName: c.ServerName, User: c.User, Password: drivers.Secret(c.Password),
		Contents: drivers.Contents{CA: drivers.Secret(c.CAContent), Cert: drivers.Secret(c.CertContent), Key: drivers.Secret(c.KeyContent)},
	}
}

// secrets is the name of the document with the credentials of a run.
const secrets = "secrets"

// errCredentials is the error of a run whose service needs what an agent does not have.
var errCredentials = errors.New("the service needs TLS or credentials, and --control keeps no secrets: " +
	"start the agent with its own --tls-ca, --user and so on, or leave --control out")

// entrust gives the agents what they need to open the plan's service besides its URL, if anything. A control
// plane that keeps no secrets is given none: the agents must have their own.
func (f *Fleet) entrust(ctx context.Context, p workloads.Plan, a assignment) error {
	s := backends.Security(p.Service)
	if s.IsZero() {
		return nil
	}
	if !f.plane.Protected() {
		for _, share := range a.Shares {
			if !f.member(share.Agent).Secured {
				return fmt.Errorf("agent %s: %w", share.Agent, errCredentials)
			}
		}
		return nil
	}
	c, err := credentialsOf(s)
	if err != nil {
		return err
	}
	return f.plane.PutSecret(ctx, a.document(secrets), c)
}

// security returns how the agent connects to the service of a run. Its own settings take
// precedence over those that the coordinator gives.
func (a *Agent) security(ctx context.Context, at site) (s drivers.Security, err error) {
	switch {
	case !at.Secured:
		return s, nil
	case !a.Security.IsZero():
		return a.Security, nil
	}
	var c credentials
	err = a.Plane.GetSecret(ctx, at.document(secrets), &c)
	return c.security(), err
}
