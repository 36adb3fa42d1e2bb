package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestReadmeByCurlEndsCompleted runs the README's commands word for word in an empty directory; it
// only replaces the two addresses by free ones.
func TestReadmeByCurlEndsCompleted(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT RUN: %s is missing; the Makefile's last line says so and fails with CI set", tool)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program(t), filepath.Join(dir, "bin", "countersign")); err != nil {
		t.Fatal(err)
	}
	api, shop := harness.UnusedAddress(t), harness.UnusedAddress(t)
	replace := strings.NewReplacer("127.0.0.1:8080", api, "127.0.0.1:9090", shop, "make build\n", "", "bin/countersign serve &", "SVC_PLATFORM_LISTEN="+api+" bin/countersign serve &",
		"bin/countersign shop", "bin/countersign shop --listen "+shop)
	copyExamples(t, dir, replace)
	script := "set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n" + replace.Replace(shellBlocks(t)) + "\n"

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.WaitDelay = dir, patience // background processes of the script keep its output open
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the README's commands failed: %v\n%s", err, out)
	}
	expectReadme(t, string(out))
}

// expectReadme checks what the README promises its reader.
func expectReadme(t *testing.T, out string) {
	t.Helper()
	rehearsed, live, _ := strings.Cut(out, `{"items":[{"id":"apr-`)
	for _, sent := range []string{"received GET /orders", "received POST", "received PUT"} {
		if strings.Contains(rehearsed, sent) {
			t.Errorf("the shop %s in the rehearsal", sent)
		}
	}
	refund := regexp.MustCompile(`received POST /refunds key run-[a-z0-9]+\.refund`)
	if n := len(refund.FindAllString(out, -1)); n != 1 {
		t.Errorf("the refund was received %d times, once is right\n%s", n, live)
	}
	for _, promise := range []string{`"decisionReason":"the goods are back, undamaged"`, `"status":"COMPLETED"`, `"verification":{"status":"PASSED"`, `"intact":true`} {
		if !strings.Contains(out, promise) {
			t.Errorf("the output has no %s\n%s", promise, out)
		}
	}
}

// shellBlocks are the README's sh blocks below "The same with curl", in order.
func shellBlocks(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(doc), "## The same with curl")
	if !found {
		t.Fatal("the README has no curl part")
	}
	part, _, _ = strings.Cut(part, "\n## ")
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(part, -1) {
		blocks = append(blocks, m[1])
	}
	return strings.Join(blocks, "\n")
}

func copyExamples(t *testing.T, dir string, replace *strings.Replacer) {
	t.Helper()
	into := filepath.Join(dir, "docs", "example")
	if err := os.MkdirAll(into, 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "example", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no example files: %v", err)
	}
	for _, f := range files {
		doc, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(into, filepath.Base(f)), []byte(replace.Replace(string(doc))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
