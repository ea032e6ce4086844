//go:build !linux

package disk

import (
	"context"
	"errors"
)

// Role is the name of the role that runs [Freeze].
const Role = "frozen-disk"

// Possible returns why disks cannot hang here.
func Possible() error { return errors.New("it takes Linux") }

// Make is not called here.
func Make(context.Context, string) error { return errors.ErrUnsupported }

// Remove has nothing to remove here.
func Remove(string) error { return nil }

// Freeze is not called here.
func Freeze(context.Context, []string, func(string)) error { return errors.ErrUnsupported }
