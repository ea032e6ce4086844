//go:build !linux

package duet

import "errors"

var errLinux = errors.New("needs Linux, which can restrict a process to some of the processors")

// Processors returns an error on this system.
func Processors() ([]Processor, error) { return nil, errLinux }

func restricted([]int, func() error) error { return errLinux }

// Move returns an error on this system.
func Move(int, []int) error { return errLinux }
