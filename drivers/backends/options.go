package backends

import (
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// Options are what is said of a target beside its URL.
type Options struct {
	// Security is how a given service is connected to. One that a run starts
	// has none.
	Security drivers.Security
	// Reads is the read mode where the URL leaves it open; "" is the
	// backend's own.
	Reads string
	// Divisible: members of an ensemble that is started can be isolated. It makes no
	// difference to others.
	Divisible bool
}

// With returns the target with the options. No file is read yet.
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

// ErrStarted: TLS and credentials were named for a service that a run starts.
var ErrStarted = errors.New("TLS and credentials are for a service given by its address, and this one would be started for the run")
