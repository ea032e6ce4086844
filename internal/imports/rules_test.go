package imports

// rules lists the packages and what each may import of this module, one row each. A package
// without a row fails the test. "name/..." covers a package and every package below it. The
// first row that fits a package applies.
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

// testRules says what test files may import in addition to their package's row and the package
// itself. Tests run on real backends, and tests of workloads run real forms. The tests of
// recipes and of naive forms do not import each other, just as the forms do not.
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

// nevers says what no change of the rules may allow, even indirectly: a package, and the
// packages that it must never reach.
const nevers = `
	recipes:      naive workloads/... metrics results dashboards/... cmd/...
	naive:        recipes workloads/... metrics results dashboards/... cmd/...
	drivers/...:  recipes naive workloads/... metrics results dashboards/... cmd/...
	metrics:      recipes naive workloads/... results dashboards/... cmd/...
	results:      recipes naive workloads/... sweeps dashboards/... cmd/...
	workloads:    recipes naive results dashboards/... cmd/...
`
