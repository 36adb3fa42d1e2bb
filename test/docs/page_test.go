package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// root is the path of the repository.
var root = func() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}()

// notRun counts the blocks that give a reason why no test can run them.
var notRun atomic.Int64

// patience bounds the commands of a page; only a failing page takes that long.
const patience = 5 * time.Minute

// follow does what a page says in an empty directory: it writes its files and runs its commands, in order, in one shell.
// It replaces only the two addresses, by free ones, and our published packages, by this repository.
func follow(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	all, err := blocks(string(text))
	if err != nil {
		t.Fatalf("docs/%s: %v", page, err)
	}
	api, project := harness.UnusedAddress(t), harness.UnusedAddress(t)
	here := strings.NewReplacer("127.0.0.1:8080", api, "127.0.0.1:9090", project)
	if !hasTools(t, string(text)) {
		return
	}
	if strings.Contains(string(text), "npm install") {
		buildSDK(t)
	}
	out, err := shell(t, folder(t, page, here), api, script(all, here))
	said := outputs(out, len(all))
	for i, b := range all {
		if b.kind == skip {
			notRun.Add(1)
			t.Logf("docs/%s:%d: not run: %s", page, b.line, b.name)
		}
		if b.kind != expect || err != nil && said[i] == "" {
			continue
		}
		if line := missing(here.Replace(b.text), said[i]); line != "" {
			t.Errorf("docs/%s:%d: %q is not in what was printed, in this order:\n%s", page, b.line, line, said[i])
		}
	}
	if err != nil {
		t.Fatalf("docs/%s: %v\n%s", page, err, out)
	}
}

// hasTools reports whether the tools that a page needs besides the product are installed.
func hasTools(t *testing.T, page string) bool {
	t.Helper()
	for tool, used := range map[string]string{"npm": "npm install", "node": "npm install", "openssl": "openssl dgst", "python3": "PYTHONPATH="} {
		if _, err := exec.LookPath(tool); err != nil && strings.Contains(page, used) {
			t.Logf("NOT RUN: %s is missing; the Makefile's last line says so and fails with CI set", tool)
			return false
		}
	}
	if strings.Contains(page, "npm install") && exec.Command("node", "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)").Run() != nil {
		t.Log("NOT RUN: Node is older than 20; the Makefile's last line says so and fails with CI set")
		return false
	}
	return true
}

// folder is the directory in which a page is followed: an empty one, except for pages that say that they use the
// repository's examples.
func folder(t *testing.T, page string, here *strings.Replacer) string {
	t.Helper()
	dir := t.TempDir()
	examples, err := filepath.Glob(filepath.Join(root, "docs", "example", "*.json"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	into := filepath.Join(dir, "docs", "example")
	if strings.HasPrefix(page, "quick-start/") {
		return dir
	}
	err = os.MkdirAll(into, 0o755)
	for _, name := range examples {
		var text []byte
		if err == nil {
			text, err = os.ReadFile(name)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(into, filepath.Base(name)), []byte(here.Replace(string(text))), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// mark begins the line that names the block whose output follows.
const mark = "\x1eblock "

// script makes one shell script of a page.
func script(all []block, here *strings.Replacer) string {
	var b strings.Builder
	b.WriteString("set -euo pipefail\n")
	for i, block := range all {
		switch block.kind {
		case run:
			fmt.Fprintf(&b, "printf '%s%%d\\n' %d\n%s\n", mark, i, here.Replace(packages(block.text)))
		case write:
			fmt.Fprintf(&b, "mkdir -p \"$(dirname '%s')\"\ncat > '%s' <<'END-OF-FILE'\n%sEND-OF-FILE\n", block.name, block.name, here.Replace(block.text))
		}
	}
	return b.String()
}

// outputs is the output of each block of commands; the blocks after it, up to the next commands, have the same output.
func outputs(out string, n int) []string {
	said := make([]string, n)
	for _, part := range strings.Split(out, mark)[1:] {
		number, text, _ := strings.Cut(part, "\n")
		var at int
		if _, err := fmt.Sscan(number, &at); err != nil {
			continue
		}
		said[at] = text
	}
	for i := 1; i < n; i++ {
		if said[i] == "" {
			said[i] = said[i-1]
		}
	}
	return said
}

// shell runs a script in a directory with the product's binary first in PATH, and ends all processes that it started.
func shell(t *testing.T, dir, api, script string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "countersign")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := os.Create(filepath.Join(bin, "output")) // a pipe would stay open as long as background processes run
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = surroundings(t, bin, api)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that background processes end too
	stop := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = stop
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	failed := cmd.Wait()
	_ = stop() // fails if no process is left
	if ctx.Err() != nil {
		failed = fmt.Errorf("the page's commands did not end within %s: %w", patience, failed)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), failed
}

// surroundings is a reader's environment: an empty home directory, the tools, and the address that replaces the default
// one. The Go command has the gate's flags, so that SQLite isn't compiled a third time for readers' programs.
func surroundings(t *testing.T, bin, api string) []string {
	t.Helper()
	home := t.TempDir()
	env := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"SVC_PLATFORM_LISTEN=" + api, "COUNTERSIGN_URL=http://" + api, "npm_config_offline=true", "npm_config_update_notifier=false", "CLONE=" + root, "PYTHONDONTWRITEBYTECODE=1", "GOFLAGS=-trimpath -ldflags=-w", "GOPROXY=off", "GORACE=atexit_sleep_ms=0", "NO_COLOR=1",
	}
	known, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN").Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range strings.Fields(string(known)) {
		env = append(env, []string{"GOCACHE", "GOMODCACHE", "GOTOOLCHAIN"}[i]+"="+v)
	}
	return env
}
