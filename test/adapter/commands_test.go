package adapter

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// settings are the variables of an adapter for a command that ends.
func settings() map[string]string {
	all := map[string]string{}
	for _, pair := range variables {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}

func shopAt(address string) string {
	return "- name: shop\n  secretEnv: SHOP_SECRET\n  answerKeyEnv: SHOP_SEED\n  http: {baseUrl: '" + address + "', auth: {type: bearer, credentialEnv: SHOP_KEY}, operations: [{method: PUT, path: '/orders/{id}'}]}\n"
}

func TestCheckPrintsWhatIsOfferedAndEachMistake(t *testing.T) {
	dir := folder(t, shopAt("https://shop.example"))
	path := filepath.Join(dir, "adapter.yaml")
	got := harness.Run(t, settings(), "adapter", "check", path)
	want := regexp.MustCompile(`^shop: 1 operations of https://shop\.example, at /http/shop\nshop: answer key ed25519:[0-9a-f]{64}\n$`)
	if got.Status != 0 || got.Err != "" || !want.MatchString(got.Out) {
		t.Errorf("%+v", got)
	}
	got = harness.Run(t, nil, "adapter", "check", path)
	for _, line := range []string{"warning: the variable SHOP_SEED is not set", "warning: upstream shop: SHOP_KEY is not set, so nothing is called"} {
		if got.Status != 0 || !strings.Contains(got.Err, line) {
			t.Errorf("%+v\nwithout %s", got, line)
		}
	}
	got = harness.Run(t, nil, "adapter", "check", path, "--print-openapi")
	if got.Status != 0 || !strings.Contains(got.Out, `"/http/shop/orders/{id}"`) {
		t.Errorf("%+v", got)
	}
	got = harness.Run(t, nil, "adapter", "serve", path, "--print-openapi")
	if got.Status != 0 || !strings.Contains(got.Out, `"/http/shop/orders/{id}"`) {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(path, []byte("listen: x\nstor: y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got = harness.Run(t, nil, "adapter", "check", path)
	if got.Status != 2 || got.Err != "countersign: "+path+`:2: there is no field "stor" here`+"\n" {
		t.Errorf("%+v", got)
	}
}

func TestServeRefusesToStartWithoutItsSecrets(t *testing.T) {
	dir := folder(t, strings.ReplaceAll(shopAt("https://shop.example"), "SHOP_SEED", "SHOP_KEY"))
	got := harness.Run(t, map[string]string{"SHOP_KEY": "no seed"}, "adapter", "serve", filepath.Join(dir, "adapter.yaml"))
	want := "countersign: upstream shop: secretEnv: set SHOP_SECRET, or SHOP_SECRET_FILE, to the secret that the service signs with\n" +
		"countersign: upstream shop: answerKeyEnv: SHOP_KEY: it must be the seed of an Ed25519 key, 64 hex digits\n"
	if got.Status != 2 || got.Err != want {
		t.Errorf("%+v\nnot %s", got, want)
	}
}

// TestWhatNobodyKnowsIsResolvedOnTheStoppedAdapter, and answered from then on, without a call.
func TestWhatNobodyKnowsIsResolvedOnTheStoppedAdapter(t *testing.T) {
	asked := 0
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			asked++
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(shop.Close)
	dir := folder(t, shopAt(shop.URL))
	path := filepath.Join(dir, "adapter.yaml")
	answer := filepath.Join(dir, "answer.json")
	if err := os.WriteFile(answer, []byte(`{"found":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	p := start(t, dir)
	if status, said := p.send("run-1.pay", "PUT", "/http/shop/orders/1", "{}"); status != 504 || !strings.Contains(said, "outcome_unknown") {
		t.Fatal(status, said)
	}
	resolve := func(want int, words string, args ...string) {
		t.Helper()
		got := harness.Run(t, nil, append([]string{"adapter", "resolve"}, args...)...)
		if got.Status != want || !strings.Contains(got.Out+got.Err, words) {
			t.Errorf("%v: %+v\nnot %d %s", args, got, want, words)
		}
	}
	resolve(2, "./store: another process uses the directory; stop the adapter first", "run-1.pay", "--status", "200", "--reason", "seen")
	p.kill()
	resolve(2, "--status: 500 is no end: it must be 200 to 299, or 400 to 499 but 408", "run-1.pay", "--status", "500", "--reason", "seen")
	resolve(2, "--reason is empty: say how it is known", "run-1.pay", "--status", "200", "--reason", " ")
	resolve(3, "run-2.pay was never seen in ./store", "run-2.pay", "--status", "200", "--reason", "seen")
	resolve(2, "--body: open none: no such file or directory", "run-1.pay", "--status", "200", "--reason", "seen", "--body", "none")
	resolve(2, "nowhere: there is no such directory", "run-1.pay", "--status", "200", "--reason", "seen", "--store", "nowhere")
	resolve(0, "run-1.pay is answered with 201 from now on", "run-1.pay", path, "--status", "201", "--body", answer, "--reason", "found in the ledger")
	resolve(3, "run-1.pay is answered already, with 201", "run-1.pay", "--status", "200", "--reason", "seen")
	p = start(t, dir)
	if status, said := p.send("run-1.pay", "PUT", "/http/shop/orders/1", "{}"); status != 201 || said != `{"found":true}` {
		t.Error(status, said)
	}
	if status, said := p.send("x", "POST", "/calls/run-9.pay/withdraw", ""); status != 200 {
		t.Error(status, said)
	}
	p.kill()
	resolve(3, "run-9.pay was withdrawn: nothing was called under it", "run-9.pay", "--status", "200", "--reason", "seen")
	if asked != 1 {
		t.Errorf("the shop was asked %d times", asked)
	}
	if got := harness.Run(t, nil, "adapter", "restored"); got.Status != 0 || !strings.Contains(got.Out, "./store counts as restored at ") {
		t.Errorf("%+v", got)
	}
	p = start(t, dir)
	if status, said := p.send("run-1.pay", "PUT", "/http/shop/orders/1", "{}"); status != 503 || !strings.Contains(said, "unavailable") {
		t.Error(status, said)
	}
}

// TestACommandReadsNoSecretOfTheAdapter, neither as a child nor by what the system shows of its parent.
func TestACommandReadsNoSecretOfTheAdapter(t *testing.T) {
	p := start(t, folder(t, shopAt("http://127.0.0.1:1")))
	if status, _ := p.send("k", "PUT", "/http/shop/orders/1", "{}"); status != 424 {
		t.Error("the adapter doesn't serve:", status)
	}
	for _, of := range []string{"environ", "cmdline"} {
		shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, of))
		if err != nil {
			continue // nor can it be read at all
		}
		for _, pair := range variables[:3] {
			_, value, _ := strings.Cut(pair, "=")
			if strings.Contains(string(shown), value) {
				t.Errorf("%s holds the value of %s", of, pair)
			}
		}
	}
	if strings.Contains(p.text(), secret) {
		t.Error("the log holds a secret")
	}
}
