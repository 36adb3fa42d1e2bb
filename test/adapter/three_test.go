package adapter

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var deaths = campaign.SizeFlag("deaths", 3, 30, "how often to kill any of service, adapter and upstream")

// TestNoDeathOfAnyOfTheThreeCallsTwice kills the service, the adapter, the upstream, or several of them, again and again at
// moments that are drawn, while runs go through all three. No key reaches the upstream twice, a run that is COMPLETED
// reached it, one that FAILED didn't, and what the adapter has answered once it knows for good. (What a service that gave
// up didn't hear, the adapter may know: its outcome is open there until somebody asks.)
func TestNoDeathOfAnyOfTheThreeCallsTwice(t *testing.T) {
	drawn := seed.First(t)
	r := rand.New(rand.NewPCG(drawn, 3)) //nolint:gosec // moments of death
	upstream := newShop(t, filepath.Join(t.TempDir(), "reached"))
	dir := folder(t, "- name: shop\n  secretEnv: SHOP_SECRET\n  http: {baseUrl: '"+upstream.url+"', operations: [{method: PUT, path: '/orders/{id}'}]}\n")
	address := newRelay(t)
	p := start(t, dir)
	address.leadsTo(p.url)
	s := governed(t, address.url, harness.Capability("order", "PUT", "/http/shop/orders/{orderId}", doc{
		"approval": "NONE", "idempotent": true, "expectation": doc{"field": "ok", "equals": true}, "inputSchema": doc{"orderId": harness.Input("string", true)},
	}))
	operator := principal(t, s, "OPERATOR")
	begin := func(n int) (*harness.Answer, error) {
		return operator.Try("POST", "/projects/"+project+"/runs", doc{"capability": "order", "mode": "LIVE", "inputs": doc{"orderId": strconv.Itoa(n)}}, harness.Header("Idempotency-Key: order-"+strconv.Itoa(n)))
	}
	const atOnce = 12
	ended := map[int]harness.JSON{}
	for cycle := range deaths.N() {
		which, left := 1+r.IntN(7), r.IntN(atOnce+1)
		var wait, dying sync.WaitGroup
		for i := range atOnce {
			if i == left {
				for bit, kill := range []func(){s.Kill, p.kill, upstream.kill} {
					if which&(1<<bit) != 0 {
						dying.Go(kill)
					}
				}
			}
			wait.Go(func() { _, _ = begin(cycle*atOnce + i) }) // what isn't answered is asked again
		}
		wait.Wait()
		dying.Wait()
		if left == atOnce {
			for bit, kill := range []func(){s.Kill, p.kill, upstream.kill} {
				if which&(1<<bit) != 0 {
					kill()
				}
			}
		}
		if which&4 != 0 {
			upstream.start(t)
		}
		if which&2 != 0 {
			p = start(t, dir)
			address.leadsTo(p.url)
		}
		if which&1 != 0 {
			s.Restart()
		}
		for i := range atOnce {
			n := cycle*atOnce + i
			harness.Until(t, "order "+strconv.Itoa(n)+" to come to rest", func() bool {
				answer, err := begin(n)
				if err != nil || answer.Status/100 != 2 {
					return false
				}
				run := operator.Get("/runs/" + answer.OK(t).At("id").Text()).OK(t)
				switch run.At("status").Text() {
				case "COMPLETED", "FAILED", "RECOVERY_REQUIRED":
					ended[n] = run
					return true
				}
				return false
			})
		}
	}
	counts := map[string]int{}
	text, err := os.ReadFile(upstream.path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		counts[strings.TrimSpace(line)]++
	}
	statuses := map[string]int{}
	for n, run := range ended {
		times, status := counts[strconv.Itoa(n)], run.At("status").Text()
		statuses[status]++
		switch {
		case times > 1:
			t.Errorf("seed %d: order %d reached the upstream %d times", drawn, n, times)
		case status == "COMPLETED" && times != 1, status == "FAILED" && times != 0:
			t.Errorf("seed %d: order %d is %s and reached the upstream %d times: %s", drawn, n, status, times, run)
		}
		key := run.At("id").Text() + "." + run.At("steps.0.id").Text()
		code, said := p.send("look-"+strconv.Itoa(n), "GET", "/calls/"+key, "")
		state := regexp.MustCompile(`"state":"([A-Z_]+)"`).FindStringSubmatch(said)
		switch {
		case code != 200 || state == nil:
			t.Errorf("seed %d: order %d: the adapter says %d %s", drawn, n, code, said)
		case status == "COMPLETED" && state[1] != "DONE", state[1] == "DONE" && status != "FAILED" && times != 1, state[1] == "UNSEEN" && times != 0:
			t.Errorf("seed %d: order %d is %s, reached the upstream %d times, and the adapter says %s", drawn, n, status, times, said)
		}
	}
	t.Logf("seed %d: %d deaths, %d orders: %v", drawn, deaths.N(), len(ended), statuses)
}
