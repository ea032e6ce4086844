GO ?= go

# The race detector needs cgo, which a machine without a C compiler has not.
# Expanded when used, that is after deps.
RACE = $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

# By default a process under the race detector sleeps a second before it exits,
# and so does every server that a test stops.
export GORACE ?= atexit_sleep_ms=0

# The program that runs go test with servers that the packages share.
TESTRUN = $(GO) run ./internal/testrun

# What make test runs under the race detector: packages where goroutines meet and whose
# tests do not link etcd, so that they compile and end in seconds.
RACED = ./drivers/between ./drivers/wire ./internal/bubble ./metrics ./workloads/pace

# Packages with simulations that have one goroutine, which make check runs without the
# race detector.
SIMULATED = ./fit ./metrics ./results/changes

# The program that tests start members of etcd by, without the race detector: it is not
# etcd that is tested.
PLAIN = .build/stampede

# Where goroutines meet, tested over and over.
CONCURRENT = ./drivers/... ./metrics/... ./workloads/...
COUNT ?= 20

# For how long each fuzzer looks for what breaks its package. Only a little of
# that goes into making one input small: coverage that depends on the scheduler
# cannot be kept while doing so.
FUZZTIME ?= 1m
FUZZED ?= .

# How many schedules of faults make soak tries, and on which recipes.
SOAK ?= 50
RECIPES ?= lock,election

.PHONY: help run test check race soak fuzz lint bench bench-servers aa twins docs lab lab-down deps

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 16

run: ## the lock in both forms on the native server; ARGS=… are stampede's own
	$(GO) run ./cmd/stampede run $(ARGS)

test: deps ## what every change must pass, in some minutes: go test -short with one ZooKeeper and one etcd
	$(GO) test $(RACE) -short -timeout=10m $(RACED)
	$(TESTRUN) -short -timeout=20m ./...

check: deps ## all tests under the race detector, faults on ensembles, linters, the gate, fuzzing; half an hour
	$(GO) build -o $(PLAIN) ./cmd/stampede
	$(GO) test -count=1 -timeout=30m $(SIMULATED)
	PLAIN_STAMPEDE=$(abspath $(PLAIN)) $(TESTRUN) $(RACE) -count=1 -timeout=60m ./...
	$(MAKE) soak SOAK=3 RECIPES=all
	$(MAKE) lint
	@code=0; scripts/gate || code=$$?; \
		[ $$code != 97 ] || { echo "warning: the gate could not measure, the machine is too busy; its counts are as they must be"; code=0; }; exit $$code
	$(MAKE) fuzz FUZZTIME=30s FUZZED='./drivers/wire ./drivers/native ./drivers/lean'
	$(MAKE) fuzz FUZZTIME=5s FUZZED='./drivers/etcd ./drivers/faults ./gate ./scenario ./results'

race: deps ## the concurrent packages COUNT (20) times under the race detector
	$(GO) test -race -count=$(COUNT) -timeout=60m $(CONCURRENT)

soak: deps ## RECIPES (lock,election; or all) on ensembles of ZooKeeper and etcd, under SOAK (50) schedules of faults each
	SEEDS=$(SOAK) RECIPES=$(RECIPES) $(GO) test -count=1 -timeout=4h -run OnEnsembles ./workloads/catalog

fuzz: ## each fuzzer of FUZZED (.) for FUZZTIME (1m), one on each core
	@grep -roE '^func Fuzz\w+' --include='*_test.go' $(FUZZED) | sed 's|/[^/]*:func | |' | \
		xargs -n 2 -P $$(getconf _NPROCESSORS_ONLN) sh -c '$(GO) test -run="^$$" -fuzz="^$$2$$" -parallel=1 \
			-fuzztime=$(FUZZTIME) -fuzzminimizetime=1s "$$1"' fuzz

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt -w $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

bench: ## all benchmarks, without the tests
	$(GO) test -run='^$$' -bench=. -benchmem ./...

bench-servers: deps ## the native server against Apache ZooKeeper and against floors, in one run of some minutes
	$(GO) run ./internal/versus

aa: ## ab on two sides that are the same, TIMES (20) times, a minute each; fails if more than one in 20 is called worse; ARGS=… are ab's own
	@scripts/aa $(ARGS)

twins: ## what sets each naive form apart from the recipe of the same name
	@for recipe in recipes/*.go; do \
		naive=naive/$${recipe#recipes/}; \
		case $$recipe in *_test.go|*/doc.go) continue;; esac; \
		[ -e $$naive ] && git --no-pager diff --no-index $$recipe $$naive; \
	done; true

lab: ## every service, Prometheus and Grafana in containers, with a scenario through all; taken down at the end
	@scripts/lab

lab-down: ## takes down what a make lab left that was killed
	@scripts/lab down

docs: ## the schemas of results, the recipes' pages and the manual anew; read what has changed
	$(GO) test ./docs -update
	$(GO) test ./cmd/stampede -run 'TestDocumentation/(recipes|manual)' -update

deps:
	@scripts/install-test-deps
