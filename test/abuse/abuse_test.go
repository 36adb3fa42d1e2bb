// Package abuse plays hostile callers: many and slow connections, huge headers, deep and wide
// documents, and many event streams. The service must go on serving others in bounded time and
// memory.
//
// The full number of connections needs a quiet machine and file descriptors for both ends:
//
//	go test ./test/abuse -run Slow -v -connections 10000 -phase 30s -doubled
package abuse

import (
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

type doc = harness.Doc

var (
	connections = flag.Int("connections", 300, "how many slow and idle connections are held open")
	phase       = flag.Duration("phase", 2*time.Second, "with -doubled: how long others are measured, without and beside them")
	doubled     = flag.Bool("doubled", false, "fail where others' p99 more than doubles: by a clock, for a quiet machine")
)

func TestMain(m *testing.M) { harness.Main(m) }

// patience bounds every wait, so that a failing test doesn't hang.
const patience = 5 * time.Minute

// victim is a service with a model, a project and an enabled LIVE plan.
type victim struct {
	*harness.Server
	receiver *harness.Receiver
	operator *harness.Client
	plan     string
}

// serve starts a victim; descriptors bounds its file descriptors, 0 means no bound.
func serve(t *testing.T, descriptors int, more ...harness.Setting) *victim {
	t.Helper()
	v := &victim{receiver: harness.NewReceiver(t)}
	v.Server = harness.Prepare(t, append(more, harness.Set("CONNECTION_ORIGINS", v.receiver.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))...)
	if descriptors > 0 {
		v.Use(limited(t, descriptors))
	}
	v.Restart()
	v.operator = v.As(v.Admin.Post("/tokens", doc{"name": "t", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
	v.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	v.Admin.Put("/projects/default-shop", harness.Project(v.receiver.Origin())).OK(t)
	v.Admin.Post("/projects/default-shop/health-check", nil).OK(t)
	v.Admin.Post("/projects/default-shop/enable", doc{"expectedRevision": 1}).OK(t)
	v.plan = v.operator.Post("/plans", doc{"name": "p", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": []any{
		doc{"id": "a", "name": "a", "projectId": "default-shop", "capability": "note", "input": doc{"text": "t"}},
	}}).OK(t).Is(t, "status", "READY").At("id").Text()
	return v
}

// limited is a script that starts the program with a bound on its file descriptors.
func limited(t *testing.T, descriptors int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/sh\nulimit -n %d && exec %q \"$@\"\n", descriptors, harness.Binary(t))
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	return path
}

// dial opens a connection and sends a text.
func (v *victim) dial(text string) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(v.URL, "http://"), patience)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write([]byte(text)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// forgetPeak resets the maximum that resident returns.
func (v *victim) forgetPeak(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", v.PID()), []byte("5"), 0o200); err != nil {
		t.Fatal(err)
	}
}

// perByte is how much memory a byte of the program takes at most: the race detector keeps shadow
// memory.
const perByte = 4

// resident is the process's present and maximal memory in MiB, including shadow memory.
func (v *victim) resident(t *testing.T) (now, most int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 {
			n, _ := strconv.Atoi(fields[1])
			switch fields[0] {
			case "VmRSS:":
				now = n >> 10
			case "VmHWM:":
				most = n >> 10
			}
		}
	}
	return now, most
}

// spent is what the process has used since its start. None of it is wall-clock time, so other work
// on the machine doesn't add to it.
type spent struct {
	allocated int     // bytes
	heap      int     // maximal size of the heap in bytes
	cpu       float64 // CPU time in seconds
}

// spent reads the process's own metrics.
func (v *victim) spent(t *testing.T) spent {
	t.Helper()
	text := v.Admin.Get("/metrics", "Accept: text/plain").Raw
	figure := func(name string) float64 {
		for line := range strings.Lines(text) {
			if value, is := strings.CutPrefix(line, name+" "); is {
				n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
		t.Fatalf("there is no figure %s:\n%s", name, text)
		return 0
	}
	return spent{int(figure("go_memstats_alloc_bytes_total")), int(figure("go_memstats_heap_sys_bytes")), figure("process_cpu_seconds_total")}
}
