// Package dashboards holds what Prometheus and Grafana need to show stampede's metrics: rules with
// alerts, dashboards and their provisioning. Its only code is the tests that check all of these
// against a real Prometheus.
package dashboards
