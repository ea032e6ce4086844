package backends

import (
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// Options are the settings of a target that are not in its URL.
type Options struct {
	// Security says how to connect to a given service. A service that the run starts has none.
	Security drivers.Security
	// Reads is the read mode if the URL does not set one; "" means the backend's default.
	Reads string
	// Divisible: the members of a started ensemble can be isolated. It has no effect on other
	// targets.
	Divisible bool
}

// With returns the target with the options. It reads no file.
func (t Target) With(o Options) (Target, error) {
	if o.Reads != "" && t.reads == "" {
		if err := t.setReads(o.Reads); err != nil {
			return Target{}, fmt.Errorf("backend %s: %w", t.backend.Scheme, err)
		}
	}
	if err := o.Security.Validate(); err != nil {
		return Target{}, err
	}
	if !o.Security.IsZero() && !t.Given() {
		return Target{}, fmt.Errorf("backend %q: %w", t.url, ErrStarted)
	}
	t.security = o.Security
	t.divisible = o.Divisible && !t.Given() && t.members > 1
	return t, nil
}

// ErrStarted: TLS or credentials were given for a service that the run starts.
var ErrStarted = errors.New("TLS and credentials are for a service given by its address, and this one would be started for the run")
