//go:build !linux

package cluster

import "errors"

// limitsOthers reports whether one process can set the limits of another.
const limitsOthers = false

// letGrowNothing is not called here.
func letGrowNothing(int) error { return errors.ErrUnsupported }
