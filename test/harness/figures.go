package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/client"
)

// Figures are the metrics that the client sees of all processes of its server: what is counted since the start of a process is added up, and
// the rest, which each reads in the store, is the first one's. Percentiles are left out if there are several processes.
func (c *Client) Figures(t testing.TB) JSON {
	t.Helper()
	processes := c.server.listeners()
	first := c.at(processes[0], "/metrics", nil).OK(t)
	if len(processes) == 1 {
		return first
	}
	sum := first.Doc()
	for _, address := range processes {
		of := c.at(address, "/metrics", nil).OK(t).Doc()
		for name, figure := range of {
			if !strings.HasSuffix(name, "_total") && !strings.HasSuffix(name, "_seconds") {
				continue
			}
			if address == processes[0] {
				sum[name] = nil // without its percentiles
			}
			sum[name] = added(sum[name], figure)
		}
	}
	return JSON{sum, true}
}

// Exposition is what all processes of the server tell Prometheus, one after the other.
func (c *Client) Exposition() (text string) {
	for _, address := range c.server.listeners() {
		text += c.at(address, "/metrics", http.Header{"Accept": {"text/plain"}}).Raw
	}
	return text
}

// listeners are the addresses of the server's processes.
func (s *Server) listeners() []string {
	if s.sharedServer != nil {
		return s.sharedServer.addresses
	}
	return s.addresses
}

// at reads a path at one of the server's processes.
func (c *Client) at(address, path string, header http.Header) *Answer {
	c.server.t.Helper()
	q := client.Request{Method: http.MethodGet, Path: path, Header: header}
	res, err := c.SDK(func(cfg *client.Config) { cfg.BaseURL = "http://" + address }).Send(context.Background(), q)
	if err != nil {
		c.server.t.Fatal(err)
	}
	return c.server.newAnswer(res, q, nil)
}

// added adds figures that have the same shape, or one of which is absent.
func added(a, b any) any {
	switch b := b.(type) {
	case map[string]any:
		sum, _ := a.(map[string]any)
		if sum == nil {
			sum = map[string]any{}
		}
		for name, figure := range b {
			if name == "p50" || name == "p95" {
				sum[name] = nil
				continue
			}
			sum[name] = added(sum[name], figure)
		}
		return sum
	case json.Number:
		was, _ := a.(json.Number)
		x, _ := was.Float64()
		y, _ := b.Float64()
		return json.Number(fmt.Sprint(x + y))
	}
	return b
}
