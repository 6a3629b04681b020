# The two commands of the README are `make run` and `make test`. Both are safe to repeat.

BIN     := bin
LINT    := $(BIN)/golangci-lint
LINT_V  := v2.15.0
BROWSER := ./drivers/... ./e2e/... ./harness/trace/... ./bench/...

.PHONY: run test setup build lint fmt unit browser bench corpus clean

run: setup build
	@for driver in chromedp playwright; do \
	  $(BIN)/limpet demo --driver $$driver --out out/$$driver --fresh; code=$$?; \
	  case $$code in 0|1|3) ;; *) exit $$code;; esac; \
	done
	@echo "The shop misbehaves on purpose: jobs that did not succeed say why above, in out/*/report.html and out/*/results.jsonl."

test: setup unit browser

setup:
	@.ci/setup

build:
	@mkdir -p $(BIN)
	go build -trimpath -o $(BIN)/limpet ./cmd/limpet

# Fast tests, with the race detector and in random order. Browser tests skip themselves under -short.
unit:
	go test -race -short -shuffle=on -count=1 ./...

# Tests that start a real Chromium, on both drivers; one package at a time, since each keeps both cores busy.
browser:
	go test -race -shuffle=on -count=1 -p 1 -timeout 30m $(BROWSER)

lint: $(LINT)
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run: make fmt"; exit 1; }
	go vet ./...
	$(LINT) run ./...

$(LINT):
	@mkdir -p $(BIN)
	GOBIN=$(CURDIR)/$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_V)

fmt: $(LINT)
	$(LINT) fmt ./...

# CPU and wall time per useful record, beside a hand-written loop over the same driver.
bench: setup
	go run ./bench/floor

# Precision and recall of the classifier over a folder of labelled pages: make corpus CORPUS=../shared/corpus
CORPUS ?= ../shared/corpus
corpus: build
	python3 $(CORPUS)/score.py $(BIN)/limpet $(CORPUS)

clean:
	rm -rf $(BIN) out .limpet
