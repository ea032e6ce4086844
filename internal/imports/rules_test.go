package imports

// rules say what the packages of this module may import of it, one row each: a
// package, and what it may import. A package that has no row fails the test.
// "name/..." is a package and every package below it; the first row that fits
// a package is its own.
const rules = `
	internal/nearest:
	internal/golden:
	internal/browser:
	internal/bubble:
	internal/testenv:
	internal/testrun:              drivers/... internal/testenv
	internal/imports:
	internal/printable:

	docs:                          results
	fit:
	internal/versus:               drivers/... internal/nearest internal/versus/floor recipes results
	internal/versus/floor:         drivers/wire drivers/native/journal

	drivers:
	drivers/wire:                  drivers
	drivers/wire/captured:
	drivers/claim:                 drivers
	drivers/canned:                drivers/wire
	drivers/child:                 internal/nearest
	drivers/faults:                drivers internal/nearest
	drivers/spread:
	drivers/between:               drivers/faults
	drivers/local:                 drivers drivers/child drivers/between
	drivers/native/tree:           drivers/wire
	drivers/native/journal:        drivers/wire drivers/native/tree
	drivers/native:                drivers drivers/wire drivers/local drivers/native/tree drivers/native/journal internal/printable
	drivers/ensemble:              drivers drivers/wire drivers/spread
	drivers/lean:              drivers drivers/wire drivers/ensemble
	drivers/zookeeper:             drivers drivers/wire drivers/local drivers/ensemble
	drivers/etcd:                  drivers drivers/local drivers/spread
	drivers/etcd/etcdtest:         drivers/child
	drivers/backends:              drivers/... internal/nearest
	drivers/backends/backendtest:  drivers/... internal/testenv
	drivers/drivertest:            drivers drivers/wire internal/bubble

	recipes:                       drivers drivers/claim
	naive:                         drivers drivers/claim

	metrics:                       drivers
	results:                       metrics drivers fit
	results/figures:               results internal/nearest
	results/archive:               results
	results/resulttest:            results metrics fit
	results/charts:                results fit
	results/changes:               results results/figures effect fit metrics
	results/noise:                 results results/archive effect
	results/report:                results results/charts
	results/formats:               results results/figures results/charts results/report
	effect:                        fit
	gate:                          results results/figures internal/nearest
	scenario:                      results internal/nearest
	workloads/cost:                metrics
	workloads/pace:
	workloads/history:
	workloads:                     workloads/cost workloads/pace workloads/history metrics drivers drivers/faults
	workloads/catalog:             workloads workloads/cost recipes naive drivers internal/nearest
	workloads/recipetest:          workloads/... metrics drivers internal/bubble
	telemetry:                     metrics drivers/native
	live:                          metrics results results/charts
	sweeps:                        metrics fit results results/figures
	dashboards:
	docker:

	cmd/...:                       ...
	examples/...:                  ...
`

// testRules say what test files may import beyond their package's row and the
// package itself. They run on real backends, and a workload's drive real forms.
// A recipe's and a naive form's tests keep apart as the forms do.
const testRules = `
	drivers/...:    drivers/... internal/nearest internal/bubble internal/testenv
	recipes:        drivers/...
	naive:          drivers/...
	metrics:        drivers/... internal/bubble internal/testenv
	telemetry:      drivers/... workloads/...
	live:           drivers internal/browser internal/bubble internal/testenv
	dashboards:     telemetry drivers/... workloads/... internal/testenv
	results:        drivers/... internal/golden
	results/charts: results/resulttest internal/golden
	results/report: results/resulttest internal/browser internal/testenv
	workloads/...:  workloads/... recipes naive metrics drivers/... internal/bubble internal/testenv
	...:            internal/golden internal/testenv
`

// nevers are what no edit of the rules may allow, however indirectly: a package
// and what must stay out of its reach.
const nevers = `
	recipes:      naive workloads/... metrics results dashboards/... cmd/...
	naive:        recipes workloads/... metrics results dashboards/... cmd/...
	drivers/...:  recipes naive workloads/... metrics results dashboards/... cmd/...
	metrics:      recipes naive workloads/... results dashboards/... cmd/...
	results:      recipes naive workloads/... sweeps dashboards/... cmd/...
	workloads:    recipes naive results dashboards/... cmd/...
`
