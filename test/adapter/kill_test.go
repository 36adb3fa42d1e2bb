package adapter

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestKillNeverCallsTwice kills the adapter again and again, at moments that are drawn, while callers repeat what they ask
// for until they are told how it ended. No order reaches an upstream twice, no order that was answered is answered
// otherwise or is unknown later, and none that reached nobody is answered as done.
func TestKillNeverCallsTwice(t *testing.T) {
	drawn := seed.First(t)
	r := rand.New(rand.NewPCG(drawn, 0)) //nolint:gosec // moments of death
	reached := filepath.Join(t.TempDir(), "reached")
	var mu sync.Mutex
	overHTTP := map[string]int{}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		order := strings.TrimPrefix(q.URL.Path, "/orders/")
		mu.Lock()
		overHTTP[order]++
		mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"order":%q}`, order) // who has gone asks again
	}))
	t.Cleanup(shop.Close)
	dir := folder(t, imported(t, reached)+"- name: shop\n  secretEnv: SHOP_SECRET\n  http: {baseUrl: '"+shop.URL+"', operations: [{method: PUT, path: '/orders/{id}'}]}\n")
	told := map[string]string{} // what was answered as an end, by key
	var open []string           // what was asked for when the adapter died
	order := 0
	for range cycles.N() {
		p := start(t, dir)
		for _, key := range open {
			if told[key] = ask(p, key); told[key] == "" {
				t.Fatalf("seed %d: %s is not answered", drawn, key)
			}
		}
		open = nil
		again := 0
		for key, before := range told { // some of those that were answered are asked for again
			if now := ask(p, key); now != before {
				t.Fatalf("seed %d: %s was answered %q, and now %q", drawn, key, before, now)
			}
			if again++; again == 5 {
				break
			}
		}
		left := int64(r.IntN(200)) // how many answers come before its death
		var answers atomic.Int64
		var wait sync.WaitGroup
		for range 4 {
			first := order
			order += 200
			wait.Go(func() {
				for n := first; n < first+200; n++ {
					key := "order-" + strconv.Itoa(n)
					answer := ask(p, key)
					mu.Lock()
					if answer == "" {
						open = append(open, key)
					} else {
						told[key] = answer
					}
					mu.Unlock()
					if answer == "" {
						return // the adapter is dead
					}
					if answers.Add(1) == left {
						go p.kill()
					}
				}
			})
		}
		if left == 0 {
			p.kill()
		}
		wait.Wait()
		p.kill()
	}
	text, err := os.ReadFile(reached)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts["order-"+strings.TrimSpace(line)]++
	}
	for n, times := range overHTTP {
		counts["order-"+n] += times
	}
	unknown := 0
	for key, times := range counts {
		if times > 1 {
			t.Errorf("seed %d: %s reached its upstream %d times", drawn, key, times)
		}
	}
	for key, answer := range told {
		if strings.HasPrefix(answer, "504") {
			unknown++
		} else if counts[key] != 1 {
			t.Errorf("seed %d: %s was answered %s and reached nobody", drawn, key, answer)
		}
	}
	t.Logf("seed %d: %d kills, %d orders reached an upstream, %d were answered, %d are unknown", drawn, cycles.N(), len(counts), len(told)-unknown, unknown)
}

// ask asks for an order, an even one over HTTP and another one as a tool; "" where there is no answer, or none that is
// an end.
func ask(p *process, key string) string {
	n := strings.TrimPrefix(key, "order-")
	method, path, body := "PUT", "/http/shop/orders/"+n, ""
	if last := n[len(n)-1]; (last-'0')%2 == 1 {
		method, path, body = "POST", "/mcp/orders/order", `{"order":"`+n+`"}`
	}
	status, answer := p.send(key, method, path, body)
	if status == 0 || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout && strings.Contains(answer, "the adapter stops") {
		return ""
	}
	if status == http.StatusGatewayTimeout {
		answer = ""
	}
	return strings.TrimSpace(fmt.Sprint(status, " ", answer))
}

// imported has the upstream that `import mcp` proposes for our server.
func imported(t *testing.T, reached string) string {
	t.Helper()
	out := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got := harness.Run(t, nil, "import", "mcp", "--project", "default-orders", "--out", out, "--", program, "as-server", reached)
	if got.Status != 0 {
		t.Fatalf("exit status %d: %s", got.Status, got.Err)
	}
	text, err := os.ReadFile(filepath.Join(out, "adapter.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "upstreams:\n")
	list = strings.ReplaceAll("\n"+list, "\n  ", "\n")[1:]
	return strings.ReplaceAll(list, "DEFAULT_ORDERS_SECRET", "SHOP_SECRET")
}
