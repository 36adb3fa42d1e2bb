// Package adapter starts the built binary as an adapter, in front of upstreams that keep what reaches them.
//
//	go test ./test/adapter                              a few kills
//	go test ./test/adapter -run Kill -cycles 1000       kill -9 of adapter and upstream, at moments that are drawn
//	go test ./test/adapter -run Death -deaths 1000      the same of service, adapter and upstream
package adapter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var (
	cycles = campaign.SizeFlag("cycles", 6, 60, "how often to kill the adapter")
	seed   = campaign.SeedFlag("seed")
)

// TestMain is an MCP server, too, and a shop: as-server or as-shop, and the file in which it keeps what it was asked.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "as-shop" {
		serveOrders(os.Args[2])
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "as-server" {
		serveTools(os.Args[2])
		return
	}
	harness.Main(m)
}

// serveTools has one tool, which keeps the order that it is given before it answers.
func serveTools(path string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments struct {
					Order string `json:"order"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			return
		}
		var result string
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"orders","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"order","description":"orders","inputSchema":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}}]}`
		case "tools/call":
			keep(path, m.Params.Arguments.Order)
			result = fmt.Sprintf(`{"content":[],"structuredContent":{"order":%q}}`, m.Params.Arguments.Order)
		default:
			continue
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// keep appends a line, in one write, so that lines of processes that follow each other are whole.
func keep(path, line string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(1)
	}
	_, _ = f.WriteString(line + "\n")
	_ = f.Close()
}

const secret = "adapter-secret-0123456789-0123456789-01234"

// process is an adapter that was started.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	url   string
	mu    sync.Mutex
	log   bytes.Buffer
	ended chan struct{}
}

var variables = []string{"SHOP_SECRET=" + secret, "SHOP_SEED=" + strings.Repeat("5a", 32), "SHOP_KEY=the-key-of-the-shop-0123", "GIVEN=a value for the command", "CLIENT_ID=the-client", "CLIENT_SECRET=the-client-secret-0123"}

// start starts an adapter, whose temporary directory is its folder, and waits until it listens.
func start(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.CommandContext(t.Context(), harness.Binary(t), "adapter", "serve", "adapter.yaml"), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}, variables...)
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			p.mu.Lock()
			p.log.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			if address, is := strings.CutPrefix(lines.Text(), "listening on "); is {
				listening <- address
			}
		}
		_ = p.cmd.Wait() // a test that cares asks for the state
	}()
	select {
	case p.url = <-listening:
	case <-p.ended:
		t.Fatalf("the adapter did not start:\n%s", p.text())
	}
	t.Cleanup(p.kill)
	return p
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// send makes a signed call. Without a status there was no answer.
func (p *process) send(key, method, path, body string) (status int, answer string) {
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return 0, ""
	}
	if err := receivertest.Sign(r, []byte(body), []byte(secret), receiver.Call{RunID: "run", StepID: "step", IdempotencyKey: key, SentAt: time.Now()}); err != nil {
		p.t.Error(err)
		return 0, ""
	}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	return resp.StatusCode, string(text)
}

// folder has an adapter's FILE of these upstreams.
func folder(t *testing.T, upstreams string) string {
	t.Helper()
	dir := t.TempDir()
	text := "listen: 127.0.0.1:0\nstore: ./store\nupstreams:\n" + upstreams
	if err := os.WriteFile(filepath.Join(dir, "adapter.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
