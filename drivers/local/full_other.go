//go:build !linux

package local

import "errors"

// limitsOthers: nobody can set another process's limits.
const limitsOthers = false

// letGrowNothing is not called here.
func letGrowNothing(int) error { return errors.ErrUnsupported }
