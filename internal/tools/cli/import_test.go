package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

const api = `{"openapi":"3.0.3","info":{"title":"Shop"},"servers":[{"url":"/v1"}],"components":{"securitySchemes":{"b":{"type":"http","scheme":"bearer"}}},"paths":{
	"/a":{"get":{"operationId":"read","responses":{"200":{}}},"post":{"operationId":"make","parameters":[{"name":"Idempotency-Key","in":"header"}],"responses":{"201":{}}}},
	"/b\u001b[2J":{"get":{"responses":{"200":{"content":{"text/html":{}}}}},"head":{"responses":{}}}}}`

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "given.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImportWritesWhatPutTakes(t *testing.T) {
	t.Chdir(t.TempDir())
	source := written(t, api)
	r := command(t, "import", "openapi", source, "--project", "acme-shop", "--base-url", "https://api.example.com", "--risk-based", "-v")
	if r.status != terminal.ExitOK || !strings.Contains(r.out, "WITHOUT approval") || !strings.Contains(r.out, "method_not_offered") || strings.Contains(r.out, "\x1b") {
		t.Fatalf("status %d\n%s%s", r.status, r.out, r.errs)
	}
	text, err := os.ReadFile("acme-shop.json")
	if err != nil {
		t.Fatal(err)
	}
	var w countersign.ProjectWrite
	if err := exactjson.Decode(text, &w); err != nil {
		t.Fatal(err)
	}
	if w.BaseURL != "https://api.example.com" || len(w.Capabilities) != 2 || w.Capabilities[0].Path != "/v1/a" || w.Auth.One.CredentialEnv != "ACME_SHOP_TOKEN" || w.Enabled != nil {
		t.Errorf("it wrote %s", text)
	}
}

// TestEverySideEffectOfAnImportAsksUnlessToldOtherwise: also one that the document calls
// idempotent.
func TestEverySideEffectOfAnImportAsksUnlessToldOtherwise(t *testing.T) {
	t.Chdir(t.TempDir())
	r := command(t, "import", "openapi", written(t, api), "--project", "acme-shop", "--base-url", "https://api.example.com")
	if r.status != terminal.ExitOK || strings.Contains(r.out, "WITHOUT approval") || strings.Contains(r.out, "RISK_BASED") || !strings.Contains(r.out, "ALWAYS") || !strings.Contains(r.out, "check-receiver") {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.errs)
	}
}

func TestImportOverwritesOnlyWhenForced(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	args := []string{"import", "openapi", written(t, api), "--project", "acme-shop", "--base-url", "https://api.example.com", "--out", out}
	for i, want := range []int{terminal.ExitOK, terminal.ExitUnusable, terminal.ExitOK} {
		if i == 2 {
			args = append(args, "--force")
		}
		if r := command(t, args...); r.status != want {
			t.Errorf("attempt %d: status %d, %s", i, r.status, r.errs)
		}
	}
}

func TestImportReportsAsJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	r := command(t, "import", "openapi", written(t, api), "--project", "acme-shop", "--base-url", "https://api.example.com", "-o", "json")
	var report struct {
		Operations int
		Proposed   []struct{ Name string }
		Reasons    map[string]int
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || report.Operations != 4 || len(report.Proposed) != 2 || report.Reasons["method_not_offered"] != 1 {
		t.Errorf("%v\n%s", err, r.out)
	}
}

func TestImportThatCannotBeUsedSaysWhyAndWritesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	good := written(t, api)
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no server":        {[]string{good, "--project", "acme-shop"}, "--base-url"},
		"bad project":      {[]string{good, "--project", "shop"}, "--project"},
		"bad regex":        {[]string{good, "--project", "acme-shop", "--include", "("}, "--include"},
		"no such file":     {[]string{"nowhere.json", "--project", "acme-shop"}, "nowhere.json"},
		"nothing chosen":   {[]string{good, "--project", "acme-shop", "--base-url", "https://a", "--tag", "x"}, "none of its operations"},
		"no document":      {[]string{written(t, `{"a":1}`), "--project", "acme-shop"}, "openapi:"},
		"old Swagger":      {[]string{written(t, `{"swagger":"1.2"}`), "--project", "acme-shop"}, "version 2.0"},
		"bad header":       {[]string{good, "--project", "acme-shop", "--header", "X-Version"}, `--header: "X-Version" must be NAME=VALUE, such as X-Api-Version=2026-01`},
		"bad policy":       {[]string{good, "--project", "acme-shop", "--policy", "orders=SOMETIMES"}, `--policy: "orders=SOMETIMES" must be TAG=ALWAYS, TAG=RISK_BASED or TAG=NONE`},
		"bad auth":         {[]string{good, "--project", "acme-shop", "--base-url", "https://a", "--auth", "none"}, "--auth"},
		"broken":           {[]string{written(t, `{"openapi":`), "--project", "acme-shop"}, "byte 11"},
		"http from afar":   {[]string{"http://example.com/openapi.json", "--project", "acme-shop"}, "https"},
		"user in the URL":  {[]string{"https://user:pw@example.com/openapi.json", "--project", "acme-shop"}, "without a user"},
		"project is asked": {[]string{good}, "--project"},
	} {
		r := command(t, append([]string{"import", "openapi"}, test.args...)...)
		if r.status != terminal.ExitUnusable || !strings.Contains(r.errs, test.says) || strings.Contains(r.errs, "pw@") {
			t.Errorf("%s: status %d, %s", name, r.status, r.errs)
		}
	}
	if left, _ := filepath.Glob("*"); len(left) > 0 {
		t.Errorf("it wrote %v", left)
	}
}

func TestProposalBeyondOneRequestIsWrittenOnlyWhereAskedAndEndsWith2(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.3","servers":[{"url":"https://a"}],"paths":{"/x":{}`)
	for i := range 6000 {
		fmt.Fprintf(&b, `,"/p%d":{"get":{"description":"%s","responses":{"200":{}}}}`, i, strings.Repeat("word ", 30))
	}
	source := written(t, b.String()+"}}")
	r := command(t, "import", "openapi", source, "--project", "acme-shop")
	if _, err := os.Stat("acme-shop.json"); r.status != terminal.ExitUnusable || err == nil || !strings.Contains(r.errs, "of them fit") {
		t.Errorf("status %d, %s", r.status, r.errs)
	}
	r = command(t, "import", "openapi", source, "--project", "acme-shop", "--out", "big.json")
	if _, err := os.Stat("big.json"); r.status != terminal.ExitUnusable || err != nil {
		t.Errorf("status %d, %s, %v", r.status, r.errs, err)
	}
}

func TestDocumentIsFetchedFromItsOwnOriginOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, api) }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/doc/openapi.json", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, api) })
	mux.Handle("/moved", http.RedirectHandler("/doc/openapi.json", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler(other.URL, http.StatusFound))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	home := httptest.NewServer(mux)
	defer home.Close()
	for path, want := range map[string]int{"/doc/openapi.json?key=s3cret": terminal.ExitOK, "/moved": terminal.ExitOK, "/away?key=s3cret": terminal.ExitUnreachable, "/round": terminal.ExitUnreachable, "/none?key=s3cret": terminal.ExitUnreachable} {
		r := command(t, "import", "openapi", home.URL+path, "--project", "acme-shop", "--force")
		if r.status != want || strings.Contains(r.errs+r.out, "s3cret") {
			t.Errorf("%s: status %d, not %d: %s", path, r.status, want, r.errs)
		}
	}
	text, err := os.ReadFile("acme-shop.json")
	if err != nil || !strings.Contains(string(text), `"baseUrl": "`+home.URL+`"`) {
		t.Errorf("a relative server is not taken from the document's address: %v %s", err, text)
	}
}
