package ensemble

import (
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Scheme is ZooKeeper's name for users with a password.
const Scheme = "digest"

// Credentials are a user of ZooKeeper's digest scheme; the zero value is no user.
type Credentials struct {
	Name     string
	Password drivers.Secret
}

// IsZero reports whether there is no user.
func (u Credentials) IsZero() bool { return u == Credentials{} }

// Digest returns the text from which the server computes the user's id.
func (u Credentials) Digest() []byte { return []byte(u.Name + ":" + string(u.Password)) }

// ACL returns the access list of the nodes that a session creates. Only its user may access
// them; without a user, everyone may, since the data in a service under test is not secret.
func (u Credentials) ACL() wire.ACL {
	if u.IsZero() {
		return wire.OpenACL()
	}
	return wire.ACL{Perms: wire.PermAll, Scheme: "auth"}
}

// Untaken explains the error of a create on a server that does not support the access list:
// the node would not be protected for its user.
func (u Credentials) Untaken(err error) error {
	if errors.Is(err, drivers.ErrUnsupported) && !u.IsZero() {
		return fmt.Errorf("%w: this server protects nothing, so it takes no credentials", err)
	}
	return err
}
