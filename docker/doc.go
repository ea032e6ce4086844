// Package docker holds the image of stampede and the laboratory, which starts every service that
// stampede supports, with Prometheus and Grafana, by one command. Its only code is the tests that
// check the files against each other and start the laboratory if there is a Docker engine.
package docker
