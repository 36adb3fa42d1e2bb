# Every target sets up what it needs. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash

GO            ?= go
LINT_VERSION  := v2.15.0
VULN_VERSION  := v1.8.0
HELM_VERSION  := v3.22.0
BENCH_SECONDS ?= 8
BENCH_FLAGS   ?=
PLANTED_FLAGS ?=
FIELD_FLAGS   ?=
SLICE         ?= 7m
FUZZ_TIME     ?= 60s

.PHONY: help
help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

# With the flags that it gives to the tests, so that nothing is compiled twice.
GATE := $(GO) run -trimpath ./test/gate

.PHONY: test
test: tools ## Run what a change must pass: every rule once, in some 6 minutes on 2 processors
	@$(GATE) && $(MAKE) --no-print-directory not-run

# With the gate's flags, and so its build cache: make one P=./internal/rules/gate, and
# RUN=TestName ARGS=-postgres if wanted.
.PHONY: one
one: ## Run one package's tests as the gate does: P=./internal/rules/gate
	@$(GATE) -one "$(P)" -run "$(RUN)" -- $(ARGS)

# A part of it: make test-all PARTS=power,kill. What is left of a run that was ended:
# make test-all CONTINUE=1. `make parts` lists the parts.
.PHONY: test-all
test-all: tools ## Run everything, in parts: for a night or a release
	@$(GATE) -all -parts "$(PARTS)" $(if $(CONTINUE),-continue) && $(MAKE) --no-print-directory not-run

# Which parts follows from the commit, so that days of changes play all of them.
.PHONY: test-slice
test-slice: tools ## Run some parts of test-all, chosen by the last commit: SLICE=7m
	@$(GATE) -slice HEAD -within $(SLICE)

.PHONY: parts
parts: ## List the parts of test and test-all, and what each guards
	@$(GATE) -list

# Tools that parts of the tests need besides Go, and which parts. Root on Debian
# gets what is missing, and nothing is upgraded (.ci/install); with INSTALL=0, and
# elsewhere, the last lines name what was not run, which fails with CI set.
export INSTALL ?= 1
TOOLS        := curl openssl strace chromium node npm postgres
for-curl     := the README's commands, and those of the manual (test/docs)
for-openssl  := test/docs: the signature by standard tools
for-strace   := test/iofaults: system calls that fail
for-chromium := test/browser: the console's stories and pages
for-node     := sdk/typescript: the TypeScript SDK, its receiver kit and example; test/docs: its pages
for-npm      := $(for-node)
for-postgres := all that is of several replicas: internal/storage/postgres, test/replicas, and what other tests play on a database
package-node := nodejs
package-postgres := postgresql
package-chromium := chromium-headless-shell
# Without its window the browser needs half of the processor time.
names-chromium   := chromium-headless-shell chromium chromium-browser google-chrome
# Debian keeps PostgreSQL's programs out of the PATH.
have          = (PATH="$$PATH:$$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)"; for name in $(or $(names-$(1)),$(1)); do command -v $$name >/dev/null && exit 0; done; exit 1)
NODE         := 20
node-serves   = command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < $(NODE) ? 1 : 0)' 2>/dev/null

.PHONY: tools
tools: # Install the tests' tools where that is possible
	@missing=; $(foreach tool,$(TOOLS),$(call have,$(tool)) || missing="$$missing $(or $(package-$(tool)),$(tool))";) .ci/install $$missing
	@sdk/python/scripts/python -c "" || true # what is missing fails the part

.PHONY: not-run
not-run: # Name the parts of the tests that could not be run
	@missing=; $(foreach tool,$(TOOLS),$(call have,$(tool)) || { echo "NOT RUN, for want of $(tool): $(for-$(tool))"; missing=yes; };) \
		command -v node >/dev/null && ! { $(node-serves); } && { echo "NOT RUN, for want of Node $(NODE) or later with npm: $(for-node)"; missing=yes; }; \
		[ -z "$$missing" ] || [ -z "$$CI" ]

# Some of them: make field FIELD_FLAGS='-run TestTheField/receivers/204'
.PHONY: field
field: ## Play the cases of test/field, and print what each is about and whether it held
	@cd test/field && $(GO) test -trimpath -vet=off -count=1 -timeout 20m $(FIELD_FLAGS) -report

# Needs the npm registry; some rows: make frameworks ROWS="mastra-newest ai-sdk-oldest".
.PHONY: frameworks
frameworks: build ## Play the adapters of the TypeScript SDK on the oldest and newest release of each framework against the service, and print the table
	COUNTERSIGN_BINARY=$(CURDIR)/bin/countersign node sdk/typescript/scripts/frameworks.mjs bin/frameworks $(ROWS)

# Again as it was drawn: make deaths DEATHS_FLAGS='-seed 4711'.
DEATHS := 300
.PHONY: deaths
deaths: ## Kill service, adapter and upstream at moments that are drawn, DEATHS times, while runs go through all three
	$(GO) test ./test/adapter -run TestNoDeath -v -timeout 2h -deaths $(DEATHS) $(DEATHS_FLAGS)

.PHONY: lint
lint: ## Run golangci-lint, import rules included
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION) run

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what is used
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) ./...

.PHONY: licences
licences: ## Say under which licence each dependency is; fails for one that is not known
	cd release && $(GO) run . licences

# What systemd makes of the unit, on a scale of 0 (safe) to 10.
EXPOSURE := 2.0
UNITS    := deploy/systemd/countersign.service deploy/systemd/countersign-adapter.service
.PHONY: systemd-check
systemd-check: ## Have systemd judge the units
	@set -o pipefail; command -v systemd-analyze >/dev/null || { echo "NOT RUN, for want of systemd-analyze: what systemd makes of the units"; [ -z "$$CI" ]; exit; }; for unit in $(UNITS); do systemd-analyze security --offline=true --no-pager --threshold=$(subst .,,$(EXPOSURE)) $$unit | tail -n 1 || exit 1; done

.PHONY: alerts-check
alerts-check: ## Have promtool read the alerts and see each fire; needs promtool, of Debian's package prometheus
	promtool check rules deploy/prometheus/alerts.yaml
	cd deploy/prometheus && promtool test rules alerts.test.yaml
	promtool check config --syntax-only deploy/prometheus/prometheus.yaml

.PHONY: proxy-check
proxy-check: ## Play nginx.conf under a real nginx: each change is sent once; needs nginx
	$(GO) test -count=1 ./deploy -run RealProxy -nginx "$$(command -v nginx)"

.PHONY: check
check: test lint vuln licences systemd-check ## test, lint, vuln, licences and systemd-check

# `make release VERSION=0.1.0` fills dist/ with what is published of the last commit;
# needs nothing but Go and git.
.PHONY: release
release: ## Build binaries, packages, images, bills of materials and checksums of the last commit: VERSION=0.1.0, and RELEASE_KEY=FILE to sign them
	cd release && $(GO) run . build -version "$(VERSION)" -out ../dist -key "$(abspath $(RELEASE_KEY))"

# Every page is asked for where the service serves it, so the site is what it shows.
SITE_ADDRESS := 127.0.0.1:18083
.PHONY: site
site: build ## Write the manual as a static site into site/; needs wget
	@store=$$(mktemp -d); SVC_PLATFORM_STORE=$$store/store SVC_PLATFORM_LISTEN=$(SITE_ADDRESS) bin/countersign serve >/dev/null 2>&1 & service=$$!; \
		trap 'kill $$service; wait $$service; rm -rf "$$store"' EXIT; rm -rf site; \
		wget -q --mirror --page-requisites --convert-links --adjust-extension --no-host-directories --directory-prefix=site \
			--include-directories=/docs,/console/static,/console/assets --retry-connrefused --tries=30 --waitretry=1 http://$(SITE_ADDRESS)/docs/ && \
		echo "$$(find site -name '*.html' | wc -l) pages in site/, which begins at site/docs/index.html"

.PHONY: release-check
release-check: ## Build the binary twice, apart, the second from nothing, and compare digests; some minutes
	cd release && $(GO) run . check

.PHONY: fuzz
fuzz: ## Fuzz every target for about a minute, or FUZZ_TIME
	$(GO) run ./test/fuzz -for $(FUZZ_TIME)

# Those after one that failed: make judge JUDGE_FLAGS='-seed 4711 -sequences 1'
JUDGE_FLAGS ?= -sequences 100000
.PHONY: judge
judge: ## Play 100,000 drawn sequences on the built binary beside a second implementation of the contract; some 2 hours
	$(GO) test -trimpath -count=1 -v -timeout 0 -run SecondImplementation ./test/judge $(JUDGE_FLAGS)

# A part of it: make assure ASSURE_FLAGS='-only simulation,restart -share 0.1'
.PHONY: assure
assure: ## Play the campaigns of docs/assurance.md in full and print their table; hours
	$(GO) run ./test/assure $(ASSURE_FLAGS)

# A few of them: make planted PLANTED_FLAGS='-only reads-leave-no-intent -jobs 2'
.PHONY: planted
planted: ## Plant the bugs of test/planted/bugs.txt, one after the other: a test must notice each; some minutes where caught.txt tells what catches each
	$(GO) run ./test/planted $(PLANTED_FLAGS)

.PHONY: screens
screens: ## Take a picture of each page of the console and the manual, at two widths, light and dark, into screens/
	$(GO) test -count=1 ./test/browser -run "Pages|Manual" -all -screens $(CURDIR)/screens

.PHONY: moving
moving: ## Film the README's moving picture of an approval in the real console, into docs/approval.gif
	$(GO) test -count=1 ./test/browser -run MovingPicture -moving $(CURDIR)/docs/approval.gif

# A try of some seconds: make bench BENCH_SECONDS=2 BENCH_FLAGS='-reps 1 -runs 4'
.PHONY: bench
bench: build ## Measure steps per second beside the ideal of this machine and DBOS on PostgreSQL, in turns; some 5 minutes
	cd bench && $(GO) run . -binary ../bin/countersign -phase $(BENCH_SECONDS)s $(BENCH_FLAGS)

.PHONY: bench-allocs
bench-allocs: ## Measure what hot functions allocate, and fail where it is more than their budget
	$(GO) test -run '^$$' -bench '^BenchmarkBudget' -benchtime 200x ./internal/rules/exactjson ./internal/runtime/runrepo ./internal/rules/model ./internal/runtime/outbound ./internal/rules/request ./internal/rules/run ./internal/evidence/signature | grep -E '^Benchmark|FAIL|allocations of'

# A try of some seconds: make bench-heartbeats BENCH_FLAGS='-reps 1 -phase 3s -alone 3s'
.PHONY: bench-heartbeats
bench-heartbeats: build ## Measure what 400 heartbeats a second cost runs and store; some 7 minutes
	cd bench && $(GO) run . heartbeats -binary ../bin/countersign $(BENCH_FLAGS)

# A try: make bench-desks BENCH_FLAGS='-waiting 500 -desks 20 -reps 1 -phase 2s'
.PHONY: bench-desks
bench-desks: build ## Measure the desk's list with 10,000 waiting approvals, and what 200 open desks cost a step; some 5 minutes
	cd bench && $(GO) run . desks -binary ../bin/countersign $(BENCH_FLAGS)

.PHONY: bench-replicas
bench-replicas: build ## Measure 1 to 3 replicas on one PostgreSQL beside DBOS on the same, in turns; some 4 minutes
	cd bench && $(GO) run . replicas -binary ../bin/countersign -phase $(BENCH_SECONDS)s $(BENCH_FLAGS)

.PHONY: bench-api
bench-api: build ## Measure the API under load, alone and beside runs; some 5 minutes
	cd bench && $(GO) run . api -binary ../bin/countersign $(BENCH_FLAGS)

# A try: make bench-hour BENCH_FLAGS='-for 3m'
.PHONY: bench-hour
bench-hour: build ## Measure every route for an hour at half of the best throughput, beside viewers, people and heartbeats; an hour and some 20 GB
	cd bench && $(GO) run . hour -binary ../bin/countersign $(BENCH_FLAGS)

# A try: make bench-history BENCH_FLAGS='-finished 20000 -reps 1 -phase 2s'
.PHONY: bench-history
bench-history: build ## Measure a store with a million finished runs beside an empty one; some 8 minutes and 4 GB
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/history ./test/history
	cd bench && $(GO) run . history -binary ../bin/countersign -fill ../bin/history $(BENCH_FLAGS)

# A try: make bench-approvals BENCH_FLAGS='-waiting 1000 -reps 1 -phase 1s'
.PHONY: bench-approvals
bench-approvals: build ## Measure lists of 10,000 approvals that wait beside 100, in turns; some 6 minutes
	cd bench && $(GO) run . approvals -binary ../bin/countersign $(BENCH_FLAGS)

# Beside an earlier build: make bench-gate BENCH_FLAGS='-before ../bin/before -reps 5'
.PHONY: bench-gate
bench-gate: build ## Measure what the gate adds to a call, and what rules, budgets, preconditions and signatures cost; some 2 minutes
	cd bench && $(GO) run . gate -binary ../bin/countersign $(BENCH_FLAGS)

# One kind on one store: make bench-neighbors BENCH_FLAGS='-only search -engines embedded -phase 5s'
.PHONY: bench-neighbors
bench-neighbors: build ## Measure a tenant beside another one's worst requests, on both stores; some 20 minutes
	cd bench && $(GO) run . neighbors -binary ../bin/countersign $(BENCH_FLAGS)

.PHONY: bench-simulation
bench-simulation: ## Measure simulations beside looplab/fsm, qmuntal/stateless and XState, in turns
	cd bench && $(GO) run . simulation $(BENCH_FLAGS)

.PHONY: build
build: ## Build bin/countersign
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/countersign ./cmd/countersign

# The first time it builds Helm, which takes minutes.
HELM           ?= $(GO) run helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)
CHART          := deploy/helm/countersign
KUBERNETES     := 1.34.0
SEVERAL        := --set replicas=3,store.postgres.secret=database
.PHONY: helm-check
helm-check: ## Lint the Helm chart, render it in its forms, and see it refuse what can't work
	$(HELM) lint --strict $(CHART)
	$(HELM) lint --strict $(CHART) $(SEVERAL) --set ingress.enabled=true,ingress.tlsSecret=tls,ingress.className=nginx,secretEnv.SHOP_SECRET.secret=shop,secretEnv.SHOP_SECRET.key=signing
	@refuses() { if said=$$($(HELM) template x $(CHART) --kube-version $(KUBERNETES) --set "$$1" 2>&1); then echo "rendered with $$1"; exit 1; fi; \
		grep -q "$$2" <<<"$$said" || { echo "with $$1 it says: $$said"; exit 1; }; echo "refused: $$1"; }; \
	refuses replicas=2 'more than 1 wants a PostgreSQL store' && refuses stopGraceSeconds=0 'at least 1' && \
	refuses settings.SVC_PLATFORM_STORE=/elsewhere "the chart's to set" && refuses settings.SVC_PLATFORM_SMTP_URL=x 'holds a secret' && \
	refuses secretEnv.SHOP_SECRET.secret=shop 'name a secret and a key'

# Again as it was drawn: make settlement-deaths DEATHS_FLAGS='-seed 4711'.
SETTLEMENT_DEATHS := 2000
.PHONY: settlement-deaths
settlement-deaths: ## Kill service and signing shop SETTLEMENT_DEATHS times while calls that were approved go through both; some 45 minutes
	$(GO) test ./test/crash -run TestServiceAndShopAreKilled -v -timeout 6h -both-cycles $(SETTLEMENT_DEATHS) $(DEATHS_FLAGS)

.PHONY: settlement-model
settlement-model: ## Explore the model of both sides of a settlement whole, and draw a million paths
	$(GO) test ./test/settlementmodel -whole -walks 170000 -timeout 30m

.PHONY: demo
demo: ## Run the main job on real parts
	$(GO) run ./cmd/countersign demo
