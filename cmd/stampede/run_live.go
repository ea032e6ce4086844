package main

import (
	"fmt"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/dashboards/live"
)

// openPage shows the runs on a page, if there is an address, until the returned function is called.
func (a *app) openPage(addr string) (close func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	page := live.New(a.interrupt)
	e, err := live.Serve(addr, page)
	if err != nil {
		page.Close()
		return nil, cli.Usagef("--%s %s: cannot show a page there: %w", spec.ListenFlag, addr, cli.WithoutAddress(err))
	}
	fmt.Fprintf(a.err, "stampede: live page: %s\n", e.URL)
	if !e.Local {
		fmt.Fprintf(a.err, "stampede: warning: --%s %s: anyone who can reach it can watch the runs and stop them\n", spec.ListenFlag, addr)
	}
	a.observers = append(a.observers, showing(page))
	return e.Close, nil
}
