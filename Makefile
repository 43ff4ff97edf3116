# lictor: `make help` lists what there is.
export GOTOOLCHAIN := local
export CGO_ENABLED ?= 1
GO    ?= go
OPA    = $(GO) tool opa
REGO   = rego policy_test
TEST_TIMEOUT ?= 20m
# Tests that may be skipped; empty allows every skip but prints each by name.
ALLOW_SKIPS ?=

.PHONY: help build demo test check fmt lint rego cross go-test bench soak tools clean

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the program, in bin/
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/ ./cmd/...

demo: ## decide a handful of real calls in a throw-away repository and explain one
	@mkdir -p bin
	@echo "building lictor (the first build takes a minute or two) ..."
	@CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/lictor
	@./demo/run bin/lictor

test: check rego cross go-test ## every check and test

check: ## formatting, vet and static analysis
	@unformatted=$$($(GO) run mvdan.cc/gofumpt@v0.12.0 -l $$(git ls-files -co --exclude-standard '*.go')); \
		if [ -n "$$unformatted" ]; then echo "not formatted with gofumpt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

fmt: ## format Go and Rego
	$(GO) run mvdan.cc/gofumpt@v0.12.0 -w $$(git ls-files -co --exclude-standard '*.go')
	$(OPA) fmt -w $(REGO) bundles

rego: ## format, check and test the policy with stock OPA
	$(OPA) fmt --list --fail $(REGO) bundles
	$(OPA) check --strict -s schemas/input.json rego
	$(OPA) check --strict $(REGO) bundles
	$(OPA) test --fail-on-empty $(REGO)
	$(OPA) test --fail-on-empty rego/lictor/lib bundles
	@$(OPA) test --coverage --threshold 95 $(REGO) >/dev/null && echo "policy coverage: at least 95 %"

cross: ## build for the other platforms
	GOOS=darwin  GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=linux   GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...

tools: ## what the tests use besides Go: installed where that is possible
	@./.ci/tools

go-test: tools ## the Go tests, with the race detector, and the long policy tables without it
	@{ $(GO) test -race -json -timeout $(TEST_TIMEOUT) ./... ; $(GO) test -json -timeout $(TEST_TIMEOUT) -run 'Outcome|Merge' ./internal/eval ; } | $(GO) run ./internal/tools/testsum $(if $(ALLOW_SKIPS),-allow-skips $(ALLOW_SKIPS))

bench: ## the performance budget as ratios measured in one run
	@$(GO) run ./internal/tools/budget

soak: tools ## the long versions of load, kill, volume, differential and fuzz tests: hours
	@./.ci/soak

clean: ## remove what was built
	rm -rf bin
