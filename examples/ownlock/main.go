// Command ownlock compares a lock of its own with two of stampede's locks, on the native server,
// and prints the same table as stampede run.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/roles"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func main() {
	reexec.Dispatch(roles.All()) // the server is a second process of this binary
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "ownlock:", err)
		os.Exit(1)
	}
}

// forms returns the catalogue's forms and one more.
func forms() []workloads.Form {
	return append(catalog.Forms(), workloads.Form{
		Recipe: "lock", Name: "patient", Family: workloads.Naive,
		Summary: "waiting clients try to create the one lock node, at growing intervals",
		New:     recipe.Locks(newPatientLock),
	})
}

func run(ctx context.Context) error {
	chosen, err := catalog.Select(forms(), []string{"lock"}, []string{"predecessor", "one-node", "patient"})
	if err != nil {
		return err
	}
	target, err := backends.Parse("native:")
	if err != nil {
		return err
	}
	service, err := target.Open(ctx)
	if err != nil {
		return err
	}
	defer service.Close()
	file := results.New(results.Tool{Version: "ownlock"}, os.Args, []string{"lock"}, 1)
	for _, clients := range []int{2, 16} {
		for _, form := range chosen {
			measured, err := measure(ctx, service, form.Form, clients)
			if err != nil {
				return err
			}
			file.Runs = append(file.Runs, measured)
		}
	}
	return render.WriteText(os.Stdout, file, render.Options{})
}

// measure runs one form and returns its results.
func measure(ctx context.Context, service drivers.Service, form workloads.Form, clients int) (results.Run, error) {
	p := workloads.Plan{Service: service, Form: form, Clients: clients, Seed: 1,
		Settings: workloads.Settings{Hold: time.Millisecond}, Warmup: 100 * time.Millisecond, Duration: 500 * time.Millisecond}
	record, err := workloads.Run(ctx, p)
	if err != nil {
		return results.Run{}, err
	}
	return results.FromRecord(results.Setting{
		Recipe: form.Recipe, Form: form.Name, Family: string(form.Family), Backend: service.Info(), Clients: clients,
		Hold: p.Settings.Hold, Warmup: p.Warmup,
	}, record), nil
}
