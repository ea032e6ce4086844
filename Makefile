GO ?= go

# The race detector needs cgo, and so a C compiler. Expanded when used, which is
# after deps.
RACE = $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

# By default a process under the race detector sleeps a second before it exits,
# and so does every server that a test stops.
export GORACE ?= atexit_sleep_ms=0

# The program that runs go test with servers that the packages share.
TESTRUN = $(GO) run ./internal/testrun

# Packages that make test runs under the race detector: they have concurrency, and their
# tests do not link etcd, so that they compile and end in seconds.
RACED = ./drivers/cluster/partition ./drivers/wire ./internal/bubble ./metrics ./workloads/openloop

# Packages with concurrency, which make race tests repeatedly.
CONCURRENT = ./drivers/... ./metrics/... ./workloads/...
COUNT ?= 20

# The number of rounds of make holders.
HOLDERS ?= 200

# The number of schedules of make simulate, and the seed of the first one.
SCHEDULES ?= 100000
SEED ?= 1

# The number of rounds of make delivery.
ROUNDS ?= 10000

# How long each fuzzer runs. It spends little of that on minimizing an input:
# coverage that depends on the scheduler is lost while it does.
FUZZTIME ?= 1m
FUZZED ?= .

# The number of fault schedules that make soak runs, and its recipes.
SOAK ?= 50
RECIPES ?= lock,election

.PHONY: help run test check checks race soak break holders simulate delivery incidents fuzz lint bench bench-once gate bench-servers bench-ensembles aa observe-aa observe-suites twins docs man completion lab lab-down deps deps-short

help: ## list the targets
	@sed -n 's/^\([a-z%-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 16

run: ## the lock in both forms on the native server; ARGS=… are flags of stampede run
	$(GO) run ./cmd/stampede run $(ARGS)

test: deps-short ## go test -short with one ZooKeeper and one etcd, in some minutes; every change must pass it
	$(GO) test $(RACE) -short -timeout=5m $(RACED)
	$(TESTRUN) -short -timeout=5m ./...

check: deps ## all parts of the check, one after the other; more than an hour. CONTRIBUTING.md lists them
	$(TESTRUN) check

check-%: deps ## one part of the check, in less than ten minutes on two cores
	$(TESTRUN) check $*

checks: ## how long ago each part of the check was run, and how it ended
	@$(TESTRUN) checks

race: deps ## the concurrent packages COUNT (20) times under the race detector
	$(GO) test -race -count=$(COUNT) -timeout=60m $(CONCURRENT)

soak: deps ## RECIPES (lock,election; or all) on ensembles of ZooKeeper, etcd and native servers, under SOAK (50) schedules of faults each
	SEEDS=$(SOAK) RECIPES=$(RECIPES) $(GO) test -count=1 -timeout=4h -run OnEnsembles ./workloads/catalog

fuzz: ## each fuzzer of FUZZED (.) for FUZZTIME (1m), one on each core
	@grep -roE '^func Fuzz\w+' --include='*_test.go' $(FUZZED) | sed 's|/[^/]*:func | |' | \
		GO='$(GO)' FUZZTIME=$(FUZZTIME) xargs -n 2 -P $$(getconf _NPROCESSORS_ONLN) scripts/fuzz

observe-suites: ## the suites of kazoo, go-zookeeper, tooz and npm's etcd3 on real servers, without observe and through it; a quarter of an hour
	COMPARE=1 SERVER=zookeeper REPORTS=.build/observe-suites scripts/client-suites

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt -w $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

bench: ## all benchmarks, without the tests
	$(GO) test -run='^$$' -bench=. -benchmem ./...

break: deps ## each planted program TIMES (20) times under observe --fault, and as often beside two busy processes; half an hour
	TIMES=$(or $(TIMES),20) $(GO) test -count=1 -timeout=1h ./examples/break
	BUSY=2 TIMES=$(or $(TIMES),20) $(GO) test -count=1 -timeout=1h -run TestPlanted ./examples/break

holders: deps ## HOLDERS (200) rounds of two clients that want one lock of native servers, of which one is half alive; a quarter of an hour
	HOLDERS=$(HOLDERS) $(GO) test -count=1 -timeout=2h -v -run 'TestNoTwoHolders' ./drivers/cluster

# A process has one goroutine that matters, and short-lived garbage.
simulate: ## SCHEDULES (100000) schedules of simulated ensembles of native servers, from SEED (1), in a process for each core; an hour
	@mkdir -p .build
	$(GO) test -c -o .build/replica.test ./drivers/server/replica
	@each=$$(( $(SCHEDULES) < 1000 ? $(SCHEDULES) : 1000 )); seq $(SEED) $$each $$(( $(SEED) + $(SCHEDULES) - 1 )) | \
		SCHEDULES=$$each GOMAXPROCS=1 GOGC=400 xargs -P $$(getconf _NPROCESSORS_ONLN) -I{} \
		sh -c 'SEED={} .build/replica.test -test.run="TestSimulation$$" && echo "$$SCHEDULES schedules from {}: no violation"'

delivery: deps ## ROUNDS (10000) rounds of all forms on all backends, also with reconnects: the check of watch delivery reports nothing; twenty minutes
	ROUNDS=$(ROUNDS) $(GO) test -count=1 -timeout=1h -v -run TestCorrectDelivery ./workloads/catalog

incidents: deps ## each incident TIMES (20) times: its symptom shows each time, and never in its fixed form; half an hour
	TIMES=$(or $(TIMES),20) $(GO) test -count=1 -timeout=2h -v -run 'TestDocumentation/shown' ./cmd/stampede

bench-once: ## each benchmark once, to see that it works
	$(GO) test -run='^$$' -bench=. -benchtime=1x \
		$$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n 1 dirname | sort -u | grep -vx './cmd/stampede\|./workloads/catalog')

gate: ## the gate of this project on itself; it passes where the machine is too busy to compare times
	@code=0; scripts/gate || code=$$?; \
		[ $$code != 97 ] || { echo "warning: the gate could not measure, because the machine is too busy; its counts pass"; code=0; }; exit $$code

bench-servers: deps ## compare the native server with Apache ZooKeeper and with floors, in some minutes
	$(GO) run ./internal/serverbench

bench-ensembles: deps ## compare three native servers with three ZooKeepers, and load them for ten minutes; a quarter of an hour
	$(GO) run ./internal/serverbench -ensembles

aa: ## what ab finds of a candidate that is the base, and of one that is 10 % slower, TIMES (20) comparisons of each; ARGS=… are flags of ab
	@scripts/aa $(ARGS)

observe-aa: deps ## what compare finds of TIMES (100) pairs of observations of one program, and of one that watches more, beside BUSY (2) processes; ten minutes
	@scripts/observe-aa

twins: ## the differences between each naive form and the recipe of the same name
	@for recipe in recipes/*.go; do \
		naive=naive/$${recipe#recipes/}; \
		case $$recipe in *_test.go|*/doc.go) continue;; esac; \
		[ -e $$naive ] && git --no-pager diff --no-index $$recipe $$naive; \
	done; true

lab: ## start every service, Prometheus and Grafana in containers, run a scenario on each service, and take all down
	@scripts/lab

lab-down: ## take down the containers of a make lab that was killed
	@scripts/lab down

docs: ## write the lists of packages and of parts of the check, the schemas of results and of scenario files, the pages of recipes, systems and incidents, the manual and the forms that observe recognises; review the changes
	$(GO) test ./internal/imports -run TestContributing -update
	$(GO) test ./results/schema -update
	$(GO) test ./metrics/observe -run TestMatrixIsCurrent -update
	$(GO) test ./cmd/stampede -run 'TestDocumentation/(recipes|manual|schema|systems|incidents)' -update

man: ## the manual pages, section 1, in .build/man, for packages
	$(GO) run ./cmd/stampede man .build/man

completion: ## write .build/completion, the completion of bash, fish and zsh, for packages
	@mkdir -p .build/completion
	$(GO) build -o .build/stampede ./cmd/stampede
	.build/stampede completion bash >.build/completion/stampede.bash
	.build/stampede completion fish >.build/completion/stampede.fish
	.build/stampede completion zsh >.build/completion/_stampede

deps:
	@scripts/install-test-deps

deps-short:
	@scripts/install-test-deps short
