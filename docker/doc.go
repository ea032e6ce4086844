// Package docker holds the image of stampede and the laboratory: every service
// that it knows, with Prometheus and Grafana, by one command. It has no code but
// the tests that hold the files against each other, and bring the laboratory up
// where there is a Docker engine.
package docker
