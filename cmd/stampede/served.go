package main

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A reached service has answered: one of its sessions has shown what it can do.
type reached struct {
	drivers.Service
	meets func(workloads.Need) bool
}

func reachedBy(c drivers.Conn, s drivers.Service) reached {
	persistent := workloads.PersistentWatches.MetBy(c)
	return reached{s, func(n workloads.Need) bool { return n != workloads.PersistentWatches || persistent }}
}

// served are the forms that the service's client library can run as it is asked
// to. One that was asked for by name and cannot be run is an error; others are
// skipped, with a line that says so.
func (r reached) served(forms []catalog.Choice) (can []workloads.Form, skipped []string, err error) {
	for _, f := range forms {
		why := r.lacks(f.Form)
		switch {
		case why == "":
			can = append(can, f.Form)
		case f.ByName:
			return nil, nil, usagef("%s", why)
		default:
			skipped = append(skipped, why)
		}
	}
	return can, skipped, nil
}

// lacks says why the service cannot run a form, "" if it can.
func (r reached) lacks(f workloads.Form) string {
	info := r.Info()
	switch {
	case !f.ServedBy(info):
		return fmt.Sprintf("%v needs the client library %s, and %s is used through %s", f, f.Client, info.Name, info.Client)
	case f.Client != "" && info.Reads == ensemble.ReadSync:
		return fmt.Sprintf("%v reads as %s has it, which makes no sync", f, f.Client)
	case !r.meets(f.Needs):
		return fmt.Sprintf("%v needs %s, and %s is used through %s, which has none: %s", f, f.Needs, info.Name, info.Client, whoHasPersistent())
	}
	return ""
}

// whoHasPersistent says which backends have persistent watches.
func whoHasPersistent() string {
	var have []string
	for _, b := range backends.List() {
		if url := b.Persistent(); url != "" {
			have = append(have, url)
		}
	}
	return "try --backend " + strings.Join(have, " or ")
}
