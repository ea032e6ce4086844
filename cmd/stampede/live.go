package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/live"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

const listen = "listen"

func registerLive(flags *pflag.FlagSet, addr *string) {
	flags.StringVar(addr, listen, "", "`HOST:PORT` of a page on which to watch while the command goes on, e.g. 127.0.0.1:8080 (default: none)")
}

// openPage shows the runs on a page, if there is an address, until the returned function is called.
func (a *app) openPage(addr string) (close func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	page := live.New(a.interrupt)
	e, err := live.Serve(addr, page)
	if err != nil {
		page.Close()
		return nil, usagef("--%s %s: cannot show a page there: %w", listen, addr, reason(err))
	}
	fmt.Fprintf(a.err, "stampede: live page: %s\n", e.URL)
	if !e.Local {
		fmt.Fprintf(a.err, "stampede: warning: --%s %s: anybody who reaches it can watch the runs and stop them\n", listen, addr)
	}
	a.page = page
	return e.Close, nil
}

// expect shows on the page which runs come next.
func (b *bench) expect(on drivers.Info, forms []workloads.Form, clients int) {
	if b.page == nil || len(forms) == 0 {
		return
	}
	var runs []live.Run
	for _, form := range forms {
		runs = append(runs, live.Run{Setting: results.Setting{Recipe: form.Recipe, Form: form.Name, Family: string(form.Family),
			Backend: on, Clients: clients, Groups: b.flags.groups}})
	}
	b.page.Expect(runs...)
}
