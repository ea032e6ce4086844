//go:build !linux

package capture

import "errors"

// An Interface captures from a network interface.
type Interface struct{}

// Listen returns an error: only Linux has packet sockets.
func Listen(string, Options) (*Interface, error) {
	return nil, errors.New("capture from an interface: only Linux has packet sockets; capture to a file and read that")
}

// Close does nothing.
func (*Interface) Close() (Stats, error) { return Stats{}, nil }
