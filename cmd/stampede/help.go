package main

import "github.com/stampede-bench/stampede/cmd/stampede/cli"

// flagGroups returns the groups in which help shows the flags of commands that have many.
func flagGroups() []cli.FlagGroup {
	return []cli.FlagGroup{
		{Title: "What to run", Flags: []string{"file", "form", "clients", "groups", "repeat", "levels", "servers", "pairs", "duet", "ceiling", "seed", "resume"}},
		{Title: "Service", Flags: []string{"backend", "namespace", "connect-timeout", "max-sessions", "user", "password-file",
			"tls-ca", "tls-cert", "tls-key", "tls-server-name"}},
		{Title: "Other programs' traffic (observe)", Flags: []string{"listen", "listen-cert", "listen-key", "listen-client-ca", "page",
			"env", "for", "project", "pcap", "interface", "port"}},
		{Title: "Many machines", Flags: []string{"agents", "control", "control-listen", "on-agent-loss"}},
		{Title: "Length", Flags: []string{"duration", "rounds", "warmup", "ramp", "until-sure", "max-time"}},
		{Title: "Load", Flags: []string{"hold", "think", "rate", "arrival", "late-limit", "background"}},
		{Title: "Single recipes", Flags: []string{"readers", "revoke-every", "abort-rate", "producers", "backlog", "priorities", "ephemeral-items", "polls", "items"}},
		{Title: "Reads and writes (mix)", Flags: []string{"reads", "keys", "keys-by", "size", "in-flight", "lists", "creates", "conditional",
			"watchers", "preload", "preload-watches"}},
		{Title: "Faults", Flags: []string{"fault", "nemesis"}},
		{Title: "Verdict", Flags: []string{"threshold", "abort-on", "baseline", "noise", "inconclusive", "metric", "all", "minimum-effect",
			"confirm", "slo", "worse-by", "fail-on-regression"}},
		{Title: "Output", Flags: []string{"output", "color", "percentiles", "bin", "save", "no-save", "subject", "tag", "quiet", "trace", "metrics-addr"}},
	}
}
