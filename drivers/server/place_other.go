//go:build !linux

package server

import "os"

// placeOf returns the same for every file: a copy is not noticed on this system.
func placeOf(path string) (string, error) {
	_, err := os.Stat(path)
	return "here", err
}
