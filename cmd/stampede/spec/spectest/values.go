package spectest

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

// otherValues returns values that differ from the defaults, for flags whose type does not determine
// the valid values.
func otherValues() map[string]string {
	return map[string]string{
		"arrival": "poisson", "background": "rate=50", "backend": "zookeeper:", "bin": "2ms", "tag": "branch=main", "fault": "at=10ms cut clients=all", "form": "naive",
		"inconclusive": "fail", "keys-by": "zipfian", "metric": "rounds_per_s", "minimum-effect": "10%", "namespace": "/elsewhere",
		"output": "json", "color": "never", "percentiles": "50,90", "rate": "100..200", "repeat": "6", "reads": "0.25", "consistency": "sync", "servers": "3", "size": "100", "size-by": "zipfian", "slo": "acquire.p99<5ms",
		"threshold": "errors==0", "abort-on": "errors>1", "groups": "2", "clients": "4", "hold": "3ms", "session-timeout": "4s",
	}
}

// SetOther sets a flag to a value that is not its default.
func SetOther(t *testing.T, f *pflag.Flag) {
	t.Helper()
	value, known := otherValues()[f.Name]
	switch {
	case known:
	case f.Value.Type() == "bool":
		value = map[string]string{"true": "false", "false": "true"}[f.DefValue]
	case f.Value.Type() == "duration":
		value = "321ms"
	case slices.Contains([]string{"int", "int64", "uint64"}, f.Value.Type()):
		value = "7"
	case f.Value.Type() == "float64":
		value = "0.125"
	case f.Value.Type() == "string":
		value = "some " + f.Name
	default:
		t.Fatalf("otherValues has no value of --%s, a %s", f.Name, f.Value.Type())
	}
	cli.Must(f.Value.Set(value))
	f.Changed = true
	if f.Value.String() == f.DefValue {
		t.Fatalf("--%s %s is its default", f.Name, value)
	}
}
