package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// TestImportReadsFilesBelowTheDocumentsFolderOnly: no name and no link leads out of it, and a
// pipe holds nothing up.
func TestImportReadsFilesBelowTheDocumentsFolderOnly(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	outside := filepath.Join(dir, "outside.yaml")
	inside := filepath.Join(dir, "api")
	for path, text := range map[string]string{
		outside: "operationId: outside\nresponses: {'200': {description: ok}}\n",
		filepath.Join(inside, "ops", "list.yaml"): "operationId: list\nresponses: {'200': {description: ok}}\n",
		filepath.Join(inside, "api.yaml"):         "openapi: 3.0.3\nservers: [{url: https://a.example.com}]\npaths:\n  /in: {get: {$ref: ops/list.yaml}}\n  /out: {get: {$ref: ../outside.yaml}}\n  /link: {get: {$ref: link.yaml}}\n  /links: {get: {$ref: links/outside.yaml}}\n  /pipe: {get: {$ref: pipe.yaml}}\n  /folder: {get: {$ref: ops}}\n  /large: {get: {$ref: large.yaml}}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link.yaml": outside, "links": dir} {
		if err := os.Symlink(target, filepath.Join(inside, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(inside, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(inside, "large.yaml")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, importer.MaxDocumentBytes); err != nil {
		t.Fatal(err)
	}
	r := command(t, "import", "openapi", filepath.Join(inside, "api.yaml"), "--project", "acme-shop", "-o", "json")
	var report struct {
		Proposed []struct{ Name string }
		Skipped  []struct{ Path, Reason, Message string }
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || len(report.Proposed) != 1 || report.Proposed[0].Name != "list" || len(report.Skipped) != 6 {
		t.Fatalf("%v\n%s%s", err, r.out, r.errs)
	}
	for _, s := range report.Skipped {
		want := map[string]string{"/out": "outside the document's folder", "/pipe": "it is no regular file", "/folder": "it is no regular file", "/large": "the document's files are larger than 16777216 bytes together; bundle it first"}[s.Path]
		if !strings.Contains(s.Message, want) || strings.Contains(s.Message, dir) {
			t.Errorf("%s: %s", s.Path, s.Message)
		}
	}
}

// TestImportIsToldHeadersAuthenticationAndPolicies.
func TestImportIsToldHeadersAuthenticationAndPolicies(t *testing.T) {
	t.Chdir(t.TempDir())
	source := written(t, `{"openapi":"3.0.3","info":{"title":"Shop"},"servers":[{"url":"/v1"}],"paths":{
	"/a/{email}":{"post":{"operationId":"make","tags":["pay"],"parameters":[{"name":"email","in":"path","required":true,"schema":{"type":"string","format":"email"}},{"in":"header","name":"X-Account","required":true,"schema":{"type":"string"}}],"responses":{"201":{}}}},
	"/b":{"get":{"operationId":"read","tags":["look"],"responses":{"200":{}}}}}}`)
	r := command(t, "import", "openapi", source, "--project", "acme-shop", "--base-url", "https://api.example.com", "--header", "X-Account=a=b", "--auth", "API_KEY:X-Key", "--policy", "pay=NONE", "--path-text")
	if r.status != terminal.ExitOK || !strings.Contains(r.out, "1 side effects would run WITHOUT approval, by --policy") || !strings.Contains(r.out, "headers: X-Account: a=b is sent with each call; 1 of 2 operations require it") {
		t.Fatalf("status %d\n%s%s", r.status, r.out, r.errs)
	}
	text, err := os.ReadFile("acme-shop.json")
	if err != nil {
		t.Fatal(err)
	}
	var w countersign.ProjectWrite
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	c := w.Capabilities[0]
	if w.Headers["X-Account"] != "a=b" || w.Auth.One.HeaderName != "X-Key" || c.Approval != "NONE" || !c.InputSchema["email"].PathText || c.Path != "/v1/a/{email}" {
		t.Errorf("it wrote %s", text)
	}
}
