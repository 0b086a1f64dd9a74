# Needs Go 1.26 and make. `make` without a target lists the targets.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c

GO         ?= go
FUZZTIME   ?= 30s
CHECKS     ?= 2000
SEARCHTIME ?= 10m
KILLS      ?= 200
CUTS       ?= 2000
HOURS      ?= 10
SOAK       ?= 1h
REF        ?= origin/main

GOFUMPT  := $(GO) run mvdan.cc/gofumpt@v0.12.0
TESTBED      := $(GO) run ./internal/testkit/hadoop/testbed
LINT     := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# The folders whose tests keep golden files and therefore have the flag -rewrite.
REWRITES  = $(shell grep -rlE '"github.com/cockroachdb/datadriven"|flag.Bool."rewrite"' --include='*_test.go' . | xargs -r -n1 dirname | sort -u)

.DEFAULT_GOAL := help
.PHONY: help build demo hadoop demo-hadoop compare-hadoop truth unit test search test-hadoop test-hadoop-full test-vm race race-daemon check rewrite fuzz bench bench-agents bench-reads bench-compare soak cover exp exp-smoke browser

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "  %-17s %s\n", $$1, $$2 }'

build: ## build the binary, bin/heddle
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/heddle ./cmd/heddle

demo: build ## simulate a mixed workload under three schedulers: a table here, plots in demo.html
	./bin/heddle sim compare --profiles capacity,fair,heddle --clairvoyant --report demo.html scenarios/demo.yaml

hadoop: ## fetch Hadoop 3.4.2 and Spark 3.5.9 and 4.1.4 into the cache, with Maven and pip: a gigabyte
	$(TESTBED) fetch

demo-hadoop: ## run an unmodified MapReduce and Spark job on heddle rm with node agents
	$(TESTBED) demo

compare-hadoop: ## compare heddle rm with the stock ResourceManager, in turns, also with node agents: tables; about four and a half hours, and the mixes continue where they stopped
	$(GO) run ./test/hadoop/compare

truth: ## compare the simulator's predictions with real Hadoop: docs/truth.md; about 40 minutes, and continues where it stopped
	$(GO) run ./test/hadoop/truth -page docs/truth.md

exp: build ## run the papers' experiments, all seeds: docs/experiments and the README's table; about 40 minutes on 2 cores
	./bin/heddle exp report --readme README.md

exp-smoke: ## compare the first seed of every experiment with the kept figures
	$(GO) test ./exp/... -run 'TestExperimentsAsKept'

unit: ## run unit, dialogue and property tests at small size
	$(GO) test -short ./...

test: browser ## run all tests on this machine, including those on real Hadoop
	$(GO) vet ./...
	$(GO) test -timeout 40m ./...
	cd bench && $(GO) vet ./compare ./core ./floor ./sim ./internal/... && $(GO) test ./compare ./core ./floor ./sim ./internal/...
	$(MAKE) --no-print-directory test-hadoop

# A small mix under one scheduler, predicted from its own history. The costs of starts are those of one machine, so the
# bound is wide.
GLANCE := -again -mixes glance -arms heddle-capacity -base heddle-capacity -within 0.5

# With HEDDLE_HADOOP_REQUIRED=1, a missing prerequisite is a failure instead.
define on-hadoop
	@why="$$($(TESTBED) check)"; \
	if [ -n "$$why" ]; then echo "left out, because it runs real Hadoop and there is $$why"; \
	else $(TESTBED) fetch || $(TESTBED) fetch || exit 1; $(GO) test ./test/hadoop -count=1 -v -parallel 3 $(1) && $(2); fi
endef

test-hadoop: ## test on real Hadoop: each MapReduce and Spark job on heddle rm under one profile, faults, and everything else Heddle does; about three quarters of an hour
	$(call on-hadoop,-hadoop normal -timeout 100m,$(GO) run ./test/hadoop/truth $(GLANCE))

test-hadoop-full: ## run all of that under every profile, 100 kills under load, and what truth has not measured yet; some hours
	$(call on-hadoop,-hadoop full -timeout 5h,$(GO) run ./test/hadoop/truth $(GLANCE) && $(GO) run ./test/hadoop/truth -page docs/truth.md)

test-vm: ## test the node agent on control groups of version 2 and under systemd, in a virtual machine without KVM; a minute
	$(GO) run ./test/vm

search: ## simulate a whole cluster with fresh seeds for SEARCHTIME=10m, then run property tests on CHECKS=2000 random cases each
	$(GO) test ./rm/search -run 'TestFresh|TestEveryEffect' -for $(SEARCHTIME) -v -timeout 0
	@grep -rlE --include='*_test.go' 'pgregory.net/rapid|heddle/policy/policytest' . | xargs -n1 dirname | sort -u | \
	while read -r dir; do $(GO) test "$$dir" -count=1 -rapid.checks $(CHECKS) -timeout 1h || exit 1; done

race: ## run all tests in short mode under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short -timeout 40m ./...

# The packages that run many goroutines. The scripts of simulations have none and take minutes under the detector.
race-daemon: ## run the daemon's and the node agent's tests under the race detector (needs a C compiler); about 4 minutes
	CGO_ENABLED=1 $(GO) test -race -short -timeout 40m -skip 'TestScripts/(cluster|conf|csv|exp|input|json|load|profiles|scenario|trace)$$' ./rm ./daemon/... ./node/agent ./yarn/... ./cmd/...

check: ## check formatting, vet, linters, architecture, map order, go.mod
	@files="$$($(GOFUMPT) -l .)"; [ -z "$$files" ] || { echo "not formatted as gofumpt does:"; echo "$$files"; exit 1; }
	$(GO) vet ./...
	$(GO) test -count=1 ./internal/testkit/arch ./internal/testkit/maporder
	$(GO) mod tidy -diff
	cd bench && $(GO) mod tidy -diff
	$(LINT) run ./...
	cd bench && $(LINT) run ./compare ./core ./floor ./sim ./internal/...

rewrite: ## rewrite the golden files
	$(GO) test $(REWRITES) -rewrite
	@git diff --stat
	@echo "Commit only what you understand, and explain each number that moved."

fuzz: ## run each fuzz target for FUZZTIME=30s
	@grep -rn --include='*_test.go' '^func Fuzz' . | sed -E 's|^(.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | \
	while read -r dir target; do \
		echo "$$dir $$target"; $(GO) test "$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) || exit 1; \
	done

bench: ## run the benchmarks of the packages, then Heddle alternating with its peers and floors
	$(GO) test -run '^$$' -bench . -benchmem ./...
	cd bench && $(GO) run ./compare

bench-agents: ## run 10,000 hollow NodeManagers of 30 containers, with node agents, on one heddle rm: a table; about 6 minutes
	$(GO) run ./test/agents

bench-reads: ## measure reports of nodes beside 1,000 lists a second, and beside monitors, on a heddle rm with 10,000 applications, and the same with readers of another one: a table; two minutes
	$(GO) run ./test/reads

soak: build ## test heddle rm under load: KILLS=200 kills and as many power cuts, CUTS=2000 power cuts of its store, HOURS=10 simulated, SOAK=1h of steady load; docs/soak.md
	$(GO) build -o bin/soak ./test/soak
	./bin/soak cuts -cuts $(CUTS)
	./bin/soak kills -kills $(KILLS)
	./bin/soak kills -kills $(KILLS) -power
	$(GO) test ./rm/search -run TestHours -hours $(HOURS) -count=1 -timeout 0 -v
	./bin/soak steady -for $(SOAK) -plot soak.svg

bench-compare: ## compare benchmarks of REF=origin/main with this tree; more than 5 % slower or one more allocation fails
	scripts/bench-compare $(REF)

cover: ## print coverage by package; a policy below 90 % is flagged
	@$(GO) test -short -coverprofile=cover.out ./... | awk '$$1 == "ok" { print } \
		$$1 == "FAIL" { print; bad = 1 } \
		/policies\// && match($$0, /[0-9.]+% of/) && substr($$0, RSTART) + 0 < 90 { print "  ^ below 90 %: what is not tested, and why?" } \
		END { exit bad }'

# A test loads the report's page in a browser; without one it skips and says so.
browser:
	@if [ -n "$$(type -P chromium chromium-browser google-chrome)" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		export DEBIAN_FRONTEND=noninteractive; \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation; } >/dev/null || \
		echo "chromium could not be installed: the test that looks at the report's page will skip"; \
	else echo "no chromium, and only root can install it: the test that looks at the report's page will skip"; fi
