package imports

// rules lists the packages and what each may import of this module, one row each. A package
// without a row fails the test. "name/..." covers a package and every package below it. The
// first row that fits a package applies.
const rules = `
	internal/suggest:
	internal/golden:
	internal/browser:
	internal/bubble:
	internal/hosts:
	internal/testenv:
	internal/testrun:              drivers/... internal/testenv
	internal/imports:
	internal/printable:

	docs:                          results
	results/stats:
	results/units:
	internal/serverbench:          drivers/... internal/suggest internal/serverbench/floor recipes results results/units
	internal/serverbench/floor:    drivers/wire drivers/server/logfile

	drivers:
	drivers/wire:                  drivers
	drivers/traffic:               drivers drivers/wire
	drivers/traffic/proxy:         drivers/traffic
	drivers/traffic/capture:       drivers/traffic
	drivers/traffic/etcd:          drivers drivers/traffic drivers/etcd/calls
	drivers/wire/captured:
	drivers/protected:             drivers
	drivers/server/canned:         drivers/wire
	drivers/cluster/reexec:        internal/suggest
	drivers/cluster/faults:        drivers internal/suggest
	drivers/balancer:
	drivers/latch:                 drivers
	drivers/cluster/partition:     drivers/cluster/faults
	drivers/cluster:               drivers drivers/cluster/reexec drivers/cluster/partition
	drivers/server/tree:           drivers/wire
	drivers/server/codec:          drivers/wire drivers/server/tree
	drivers/server/logfile:
	drivers/server/logfile/disktest: drivers/server/logfile
	drivers/server/wal:            drivers/wire drivers/server/tree drivers/server/codec drivers/server/logfile
	drivers/server/raftlog:        drivers/server/logfile
	drivers/server/replica:        drivers/wire drivers/server/tree drivers/server/codec
	drivers/server/peers:          drivers/server/replica
	drivers/server/certificates:
	drivers/server/stats:          drivers/wire drivers/server/tree
	drivers/server/fourletter:     drivers/wire drivers/server/stats internal/printable
	drivers/server:                drivers drivers/wire drivers/cluster drivers/server/tree drivers/server/wal drivers/server/logfile drivers/server/raftlog drivers/server/replica drivers/server/peers drivers/server/certificates drivers/server/fourletter drivers/server/stats
	drivers/ensemble:              drivers drivers/wire drivers/balancer
	drivers/lean:                  drivers drivers/wire drivers/ensemble
	drivers/zookeeper:             drivers drivers/wire drivers/cluster drivers/ensemble drivers/latch
	drivers/etcd/keys:             drivers
	drivers/etcd/library:          drivers drivers/etcd/keys
	drivers/etcd/member:           drivers/cluster
	drivers/etcd:                  drivers drivers/balancer drivers/etcd/calls drivers/latch drivers/etcd/keys drivers/etcd/library
	drivers/etcd/calls:            drivers
	drivers/etcd/etcdtest:         drivers/cluster/reexec
	drivers/backends:              drivers/... internal/suggest
	drivers/backends/backendtest:  drivers/... internal/testenv
	drivers/drivertest:            drivers drivers/wire internal/bubble

	recipes:                       drivers drivers/protected
	naive:                         drivers drivers/protected

	metrics:                       drivers
	metrics/fanout:                metrics drivers
	metrics/observe:               metrics metrics/fanout drivers drivers/traffic
	results:                       metrics metrics/observe drivers results/units
	results/levels:                results results/stats results/units
	results/view:                  results results/levels results/stats results/units metrics internal/printable
	results/metric:                results results/units metrics internal/suggest
	results/archive:               results
	results/history:               results results/metric results/stats metrics/observe
	results/noisetest:             results
	results/resulttest:            results results/levels results/stats metrics drivers
	results/charts:                metrics/observe results results/metric results/levels results/stats results/units results/view
	results/compare:               results results/metric results/stats results/units metrics metrics/observe internal/suggest
	results/noise:                 results results/archive results/stats
	results/report:                results results/archive results/history results/charts results/observation results/units results/view
	results/formats:               results results/metric results/charts results/observation results/report results/units results/view results/workflow
	results/gate:                  results results/metric results/units internal/suggest
	results/observation:           metrics/observe results results/units results/view internal/suggest results/workflow
	results/workflow:
	workloads/scenario:            results internal/suggest
	workloads/costmodel:                metrics
	workloads/openloop:
	workloads/history:
	workloads/check:               workloads/history metrics drivers
	workloads/exchange:
	workloads/parallel:
	workloads/systems:
	workloads/namespace:           workloads/parallel drivers
	workloads:                     workloads/check workloads/exchange workloads/costmodel workloads/openloop workloads/namespace workloads/parallel metrics metrics/fanout drivers drivers/cluster/faults
	workloads/divided:             workloads workloads/check metrics
	workloads/settled:             workloads metrics drivers
	workloads/recipe:              workloads workloads/check workloads/divided workloads/exchange workloads/settled workloads/namespace workloads/openloop workloads/parallel workloads/history metrics drivers
	workloads/load:                workloads workloads/check workloads/divided workloads/exchange workloads/settled workloads/namespace workloads/openloop workloads/history metrics drivers
	workloads/runtest:             workloads workloads/recipe workloads/load workloads/namespace recipes metrics drivers drivers/backends internal/bubble
	workloads/catalog:             workloads workloads/systems workloads/recipe workloads/load workloads/settled workloads/costmodel recipes naive drivers internal/suggest
	workloads/recipetest:          workloads/... metrics drivers internal/bubble
	agents/clock:
	agents/journal:                metrics metrics/fanout drivers
	agents/merge:                  metrics
	agents/control:                recipes drivers drivers/backends drivers/etcd
	agents:                        agents/... workloads workloads/check workloads/divided workloads/namespace workloads/openloop metrics drivers drivers/backends drivers/cluster/faults
	metrics/export:                metrics metrics/observe drivers/server
	dashboards/live:               metrics metrics/fanout results results/charts results/units results/view
	workloads/sweeps:              metrics results results/metric results/stats results/units
	dashboards:
	docker:

	cmd/stampede/cli:              internal/suggest internal/printable drivers results/units
	cmd/stampede/outputs:          cmd/stampede/cli internal/suggest results results/view results/formats
	cmd/stampede/spec/spectest:    cmd/stampede/cli
	cmd/stampede/spec:             cmd/stampede/cli internal/suggest cmd/stampede/outputs drivers/... metrics results/... workloads/... agents
	cmd/...:                       ...
	examples/...:                  ...
`

// testRules says what test files may import in addition to their package's row and the package
// itself. Tests run on real backends, and tests of workloads run real forms. The tests of
// recipes and of naive forms do not import each other, just as the forms do not.
const testRules = `
	drivers/...:                   drivers/... internal/suggest internal/bubble internal/testenv
	recipes:                       drivers/...
	naive:                         drivers/...
	metrics:                       drivers/... internal/bubble internal/testenv
	metrics/observe:               drivers/... workloads/... metrics internal/golden internal/testenv
	metrics/fanout:                internal/bubble
	metrics/export:                metrics/fanout metrics/observe drivers/... workloads/...
	agents:                        drivers/... workloads/... internal/hosts internal/testenv
	agents/...:                    drivers/... internal/bubble internal/golden internal/hosts internal/testenv
	dashboards/live:               drivers internal/browser internal/bubble internal/testenv
	dashboards:                    metrics/export metrics/observe drivers/... workloads/... internal/testenv
	results:                       drivers/... results/levels results/resulttest internal/golden
	results/levels:                results/resulttest metrics drivers
	results/view:                  results/resulttest metrics drivers internal/golden
	results/charts:                results/resulttest internal/golden
	results/report:                metrics/observe results/resulttest internal/browser internal/testenv
	results/formats:               results/levels results/resulttest internal/golden internal/testenv
	results/stats:                 results/noisetest internal/testenv
	results/compare:               results/noisetest internal/testenv
	results/noisetest:             results/... workloads/sweeps internal/testenv
	cmd/stampede/outputs:          results/resulttest
	cmd/stampede/spec:             cmd/stampede/spec/spectest workloads/... drivers/...
	workloads/...:                 workloads/... recipes naive metrics/... drivers/... internal/bubble internal/testenv
	...:                           internal/golden internal/testenv
`

// nevers says what no change of the rules may allow, even indirectly: a package, and the
// packages that it must never reach.
const nevers = `
	recipes:                       naive workloads/... metrics results dashboards/... cmd/...
	naive:                         recipes workloads/... metrics results dashboards/... cmd/...
	drivers/...:                   recipes naive workloads/... metrics results dashboards/... cmd/...
	metrics/fanout:                recipes naive workloads/... results dashboards/... cmd/...
	metrics:                       recipes naive workloads/... results dashboards/... cmd/...
	results:                       recipes naive workloads/... dashboards/... cmd/...
	workloads:                     recipes naive results dashboards/... cmd/... agents/...
	agents:                        naive results dashboards/... cmd/...
`
