// Package dashboards holds what Prometheus and Grafana need to show stampede's
// metrics: rules with alerts, dashboards, and how they are provisioned. It has no
// code but the test that holds all of them against a real Prometheus.
package dashboards
