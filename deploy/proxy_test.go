package deploy

import (
	"bufio"
	"flag"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var nginx = flag.String("nginx", "", "the nginx to play nginx.conf under: make proxy-check")

// away is a replica that takes a request whole, and closes the connection without an answer.
type away struct {
	address string
	mu      sync.Mutex
	took    []string
}

func newAway(t *testing.T) *away {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	a := &away{address: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				a.mu.Lock()
				a.took = append(a.took, r.Method)
				a.mu.Unlock()
			}
			_ = conn.Close()
		}
	}()
	return a
}

// TestTheRealProxySendsNoChangeTwice plays nginx.conf under the nginx of -nginx, before two replicas that
// take requests and don't answer. Without the flag it reads what nginx would be given.
func TestTheRealProxySendsNoChangeTwice(t *testing.T) {
	one, other := newAway(t), newAway(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := free.Addr().String()
	_ = free.Close()
	dir := t.TempDir()
	conf := strings.NewReplacer("replica-1:8080 max_fails=1", one.address+" max_fails=0", "replica-2:8080 max_fails=1", other.address+" max_fails=0",
		"listen 8080;", "listen "+listen+";", "events {}", "events {}\npid "+dir+"/pid;\nerror_log "+dir+"/errors;\ndaemon off;",
		"http {", "http {\naccess_log off;\nclient_body_temp_path "+dir+"/body;\nproxy_temp_path "+dir+"/proxy;\nfastcgi_temp_path "+dir+"/f;\nuwsgi_temp_path "+dir+"/u;\nscgi_temp_path "+dir+"/s;").Replace(mustRead(t, "nginx.conf"))
	if strings.Contains(conf, "replica-") || !strings.Contains(conf, listen) {
		t.Fatalf("not for these replicas:\n%s", conf)
	}
	if *nginx == "" {
		return
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(*nginx, "-c", path, "-e", dir+"/errors")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	harness.Until(t, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	const each = 4
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		for range each {
			r, err := http.NewRequest(method, "http://"+listen+"/v1/projects/x", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusBadGateway {
				t.Errorf("%s: %s", method, res.Status)
			}
		}
	}
	sent := map[string]int{}
	for _, a := range []*away{one, other} {
		a.mu.Lock()
		for _, method := range a.took {
			sent[method]++
		}
		a.mu.Unlock()
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		if sent[method] != each {
			t.Errorf("%s: %d were sent, of %d", method, sent[method], each)
		}
	}
}
