package ensemble

import (
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Scheme is how ZooKeeper calls users with a password.
const Scheme = "digest"

// Credentials are a user of ZooKeeper's digest scheme; the zero value is nobody.
type Credentials struct {
	Name     string
	Password drivers.Secret
}

// IsZero tells whether they are nobody's.
func (u Credentials) IsZero() bool { return u == Credentials{} }

// Digest is what the server makes the user's id of.
func (u Credentials) Digest() []byte { return []byte(u.Name + ":" + string(u.Password)) }

// ACL says who may touch what a session creates: whoever has its credentials,
// or everybody where it has none, since what lies in a service under test is no
// secret.
func (u Credentials) ACL() wire.ACL {
	if u.IsZero() {
		return wire.OpenACL()
	}
	return wire.ACL{Perms: wire.PermAll, Scheme: "auth"}
}

// Untaken explains the error of a create on a server that cannot take the access
// list: what was made there would not be its user's.
func (u Credentials) Untaken(err error) error {
	if errors.Is(err, drivers.ErrUnsupported) && !u.IsZero() {
		return fmt.Errorf("%w: this server protects nothing, so it takes no credentials", err)
	}
	return err
}
