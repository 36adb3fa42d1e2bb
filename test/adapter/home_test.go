package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestAKilledAdapterLeavesNoHomeForGood: the next start removes the HOME of the command that the killed one had started.
func TestAKilledAdapterLeavesNoHomeForGood(t *testing.T) {
	dir := folder(t, imported(t, filepath.Join(t.TempDir(), "reached")))
	homes := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "countersign-adapter-home-*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	order := func(p *process, key string) {
		t.Helper()
		if status, said := p.send(key, "POST", "/mcp/orders/order", `{"order":"`+key+`"}`); status != 200 {
			t.Fatal(status, said)
		}
	}
	p := start(t, dir)
	order(p, "1")
	p.kill()
	left := homes()
	if len(left) != 1 {
		t.Fatalf("the killed one left %v", left)
	}
	p = start(t, dir)
	order(p, "2")
	if now := homes(); len(now) != 1 || slices.Equal(now, left) {
		t.Errorf("after the next start there are %v; left were %v", now, left)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if now := homes(); len(now) != 0 {
		t.Errorf("one that is stopped leaves %v", now)
	}
	if _, err := os.Stat(filepath.Join(dir, "store")); err != nil {
		t.Error(err)
	}
}
