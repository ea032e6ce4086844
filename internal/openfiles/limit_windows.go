// Package openfiles says how many files this process may have open.
package openfiles

import "math"

// Limit returns [math.MaxUint64]: only the machine's memory limits the open files of a process of Windows.
func Limit() uint64 { return math.MaxUint64 }
