package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

type object = map[string]any

// product is a process of the built binary, driven over HTTP. Its LIVE runs have steps of
// signed POSTs with an expectation; all gates, verification and the audit log are enabled.
type product struct {
	binary   string
	conc     int
	process  *exec.Cmd
	base     string
	token    string
	plan     string
	dir      string    // of the embedded store
	shared   string    // URL of the database instead, "" for none
	share    *share    // of the processors; nil: all
	settings []string  // of its environment, besides those that every benchmark sets
	log      io.Writer // for its log; nil: it is discarded
	trace    string    // file for the trace of its syncs; "": they aren't counted
	r        *receiver
	keys     string // random prefix of its idempotency keys, so that products share none
	seq      atomic.Int64
	title    string
}

const bootstrap = "bench-bootstrap-token-0123456789abcdef0123"

func newProduct(binary, dir string, r *receiver, conc int) *product {
	return &product{binary: binary, conc: conc, dir: filepath.Join(dir, "store"), r: r, token: bootstrap, title: "Countersign", keys: "bench-" + rand.Text()[:8] + "-"}
}

// start starts the process on its store, which may exist, and waits until it listens.
func (p *product) start() error {
	p.process = launch(p.trace, p.binary, "serve")
	p.process.Env = append(os.Environ(), "SVC_PLATFORM_LISTEN=127.0.0.1:0", "SVC_PLATFORM_STORE="+cmp.Or(p.shared, p.dir), "SVC_PLATFORM_BOOTSTRAP_TOKEN="+bootstrap,
		"SVC_PLATFORM_CONNECTION_ORIGINS="+p.r.origin, "SVC_PLATFORM_SIGNING_ENV_ALLOWLIST=BENCH_SECRET", "BENCH_SECRET=bench-secret-value-0123456789abcdef",
		"SVC_PLATFORM_MAX_ACTIVE_RUNS="+strconv.Itoa(p.conc))
	p.process.Env = append(p.process.Env, p.settings...)
	stderr, err := p.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.process.Start(); err != nil {
		return err
	}
	if p.share != nil {
		if err := p.share.add(p.process.Process.Pid); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(stderr)
	for p.base = ""; p.base == "" && lines.Scan(); {
		if _, address, ok := strings.Cut(lines.Text(), "listening on "); ok {
			p.base = address + "/v1"
		}
	}
	if p.base == "" {
		return fmt.Errorf("%s ended or closed its log before it was listening", p.binary)
	}
	go func() { _, _ = io.Copy(cmp.Or(p.log, io.Discard), stderr) }()
	return nil
}

func (p *product) stop() error { return end(p.process, syscall.SIGTERM) }

// clear kills the process if it is still running.
func (p *product) clear() { kill(p.process) }

func (p *product) name() string { return p.title }

func (p *product) roots() []int { return []int{p.process.Process.Pid} }

func (p *product) syncs() (int, error) { return tracedSyncs(p.trace) }

// storedBytes returns the size of the store. It stops the product, which moves the log into the
// database, and starts it again.
func (p *product) storedBytes() (int64, error) {
	if err := p.stop(); err != nil {
		return 0, err
	}
	bytes, err := diskUsage(p.dir)
	if err != nil {
		return 0, err
	}
	return bytes, p.start()
}

func (p *product) must(method, path string, body any) (object, error) {
	status, out, err := p.call(method, path, body, "")
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s: %d %v", method, path, status, out)
	}
	return out, err
}

func (p *product) call(method, path string, body any, key string) (status int, out object, err error) {
	doc, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	status, err = p.exchange(context.Background(), method, path, doc, key, &out)
	return status, out, err
}

// exchange sends one request and decodes the answer into out.
func (p *product) exchange(ctx context.Context, method, path string, doc []byte, key string, out any) (int, error) {
	resp, err := p.send(ctx, method, path, doc, key)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, json.NewDecoder(resp.Body).Decode(out)
}

// fetch sends one request, reads the answer to its end and discards it.
func (p *product) fetch(ctx context.Context, method, path string, doc []byte) (int, error) {
	resp, err := p.send(ctx, method, path, doc, "")
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, errors.Join(err, resp.Body.Close())
}

// exchangeHead sends one request and returns the first 512 bytes of the answer, which have all
// that is needed: decoding whole runs would take the benchmark as much processor time as the
// product takes to serve them.
func (p *product) exchangeHead(method, path string, doc []byte, key string) (status int, head []byte, err error) {
	resp, err := p.send(context.Background(), method, path, doc, key)
	if err != nil {
		return 0, nil, err
	}
	head = make([]byte, 512)
	n, err := io.ReadFull(resp.Body, head)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return resp.StatusCode, head[:n], errors.Join(err, resp.Body.Close())
}

// member is a string member of the JSON in head, "" if it isn't there.
func member(head []byte, name string) string {
	_, rest, _ := bytes.Cut(head, []byte(`"`+name+`":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(text)
}

func (p *product) send(ctx context.Context, method, path string, doc []byte, key string) (*http.Response, error) {
	return p.sendBy(ctx, client, method, path, doc, key)
}

// sendBy sends by a client with connections of its own.
func (p *product) sendBy(ctx context.Context, via *http.Client, method, path string, doc []byte, key string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(doc))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+p.token)
	q.Header.Set("Content-Type", "application/json")
	if key != "" {
		q.Header.Set("Idempotency-Key", key)
	}
	return via.Do(q)
}

// checkHealth has the health of the project checked, by an administrator.
func (p *product) checkHealth() error {
	admin := &product{base: p.base, token: bootstrap}
	_, err := admin.must("POST", "/projects/default-bench/health-check", nil)
	return err
}

// runTimeout is how long a run may take before that is an error.
const runTimeout = time.Minute

// runOnce starts a run and waits until it is COMPLETED. It returns how long the start took.
func (p *product) runOnce() (start time.Duration, err error) {
	begin := time.Now()
	id, err := p.begin(p.key())
	if err != nil {
		return 0, err
	}
	start = time.Since(begin)
	select { // no polling until the receiver has answered the last call
	case <-p.r.of(id).done:
	case <-time.After(runTimeout):
		_, out, err := p.call("GET", "/runs/"+id, nil, "")
		return start, errors.Join(fmt.Errorf("run %s has not ended after %s: %v, %v", id, runTimeout, out["status"], out["error"]), err)
	}
	return start, p.await(id)
}

func (p *product) key() string { return p.keys + strconv.FormatInt(p.seq.Add(1), 10) }

func (p *product) begin(key string) (string, error) {
	for {
		status, head, err := p.exchangeHead("POST", "/runs", []byte(`{"planId":"`+p.plan+`"}`), key)
		if err != nil {
			return "", err
		}
		if status == http.StatusAccepted {
			return member(head, "id"), nil
		}
		if status != http.StatusServiceUnavailable { // no slot: it is freed a moment after the previous run has ended
			return "", fmt.Errorf("start: %d %s", status, head)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

func (p *product) await(id string) error {
	for {
		_, head, err := p.exchangeHead("GET", "/runs/"+id, nil, "")
		if err != nil {
			return err
		}
		switch member(head, "status") {
		case "COMPLETED":
			return nil
		case "READY", "RUNNING":
			time.Sleep(200 * time.Microsecond)
		default:
			return fmt.Errorf("run %s: %s", id, head)
		}
	}
}

func (p *product) drive(conc int, d time.Duration) (result, error) {
	return closedLoop(p.r, conc, d, func(int) (time.Duration, error) { return p.runOnce() })
}
