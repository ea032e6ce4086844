package spec

import "github.com/spf13/pflag"

// The flags by which other programs observe runs in progress.
const (
	ListenFlag  = "listen"
	MetricsFlag = "metrics-addr"
)

func registerLive(flags *pflag.FlagSet, addr *string) {
	flags.StringVar(addr, ListenFlag, "", "`HOST:PORT` of a page that shows the runs in progress, e.g. 127.0.0.1:8080 (default: none)")
}

// RegisterMetrics adds the flag for the address of Prometheus metrics.
func RegisterMetrics(flags *pflag.FlagSet, addr *string) {
	flags.StringVar(addr, MetricsFlag, "", "`HOST:PORT` at which Prometheus finds /metrics while the command runs (default: none)")
}
