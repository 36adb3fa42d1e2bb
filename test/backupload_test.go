package test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"filippo.io/age"

	"github.com/countersign/countersign/test/harness"
)

// load writes to a world from several clients until it is stopped, and records what was acknowledged.
type load struct {
	mu    sync.Mutex
	acked map[string]bool // paths of what there must be
	count atomic.Int64
	until chan struct{}
	all   sync.WaitGroup
}

const loaders = 4

func (w *world) loaded(plan string) *load {
	l := &load{acked: map[string]bool{}, until: make(chan struct{})}
	for n := range loaders {
		l.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.until:
					return
				default:
				}
				tenant := fmt.Sprintf("/tenants/t-%d-%d", n, i)
				if a, err := w.Admin.Try("PUT", tenant, doc{"name": "T"}); err == nil && a.Status < 300 {
					l.keep(tenant)
				}
				if a, err := w.operator.Try("POST", "/runs", doc{"planId": plan}, key()); err == nil && a.Status < 300 {
					l.keep("/runs/" + a.At("id").Text())
				}
			}
		})
	}
	return l
}

func (l *load) keep(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[path] = true
	l.count.Add(1)
}

// soFar are the acknowledged paths so far.
func (l *load) soFar() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.acked))
}

func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	from := l.count.Load()
	harness.Until(t, "more writes", func() bool { return l.count.Load() >= from+n })
}

func (l *load) end() { close(l.until); l.all.Wait() }

// keyPair writes a secret key of age to a file, and returns the public one.
func keyPair(t *testing.T) (file, recipient string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte("# a comment\n"+id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, id.Recipient().String()
}

// TestABackupUnderLoadHoldsAllThatWasAcknowledgedBeforeIt: after its restore the audit logs are intact, and the service works. The
// backup is encrypted.
func TestABackupUnderLoadHoldsAllThatWasAcknowledgedBeforeIt(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true}`))
	plan := w.ready(t, planOf(step("note", "note", doc{"text": "hello"})))
	l := w.loaded(plan)
	l.more(t, 60)
	acked := l.soFar()
	identity, recipient := keyPair(t)
	file := filepath.Join(t.TempDir(), "backup.age")
	r := harness.Run(t, nil, "backup", file, "--store", w.Store, "--recipient", recipient, "-o", "json")
	l.more(t, 10)
	l.end()
	if r.Status != 0 {
		t.Fatalf("backup: %d\n%s%s", r.Status, r.Out, r.Err)
	}
	digest := parsed(t, r.Out).Is(t, "encrypted", true).At("sha256").Text()

	s, _ := w.restored(t, file, "--identity", identity, "--sha256", digest)
	for _, path := range acked {
		s.Admin.Get(path).OK(t)
	}
	t.Logf("%d writes were acknowledged before the backup, %d in all", len(acked), len(l.soFar()))
	for _, query := range []string{"", "?realm=true"} {
		s.Admin.Get("/audit/verify"+query).OK(t).Is(t, "intact", true)
	}
	on := &world{shop: w.shop, Server: s, operator: s.As(w.operator.Token()), approver: s.As(w.approver.Token())}
	on.enable(t, shop, 2)
	on.reaches(t, on.run(t, step("note", "note", doc{"text": "after"})), "COMPLETED")
}

// TestABackupIsServedForReadingAlone: it answers the tokens that were valid at its time; nothing is sent, and the file is not
// changed.
func TestABackupIsServedForReadingAlone(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	w.shop.On("POST", "/refunds", harness.Answering(201, `{"ok":true}`))
	plan := w.ready(t, planOf(step("refund", "refund", doc{"orderId": "A-1"})))
	run := w.start(t, plan)
	w.reaches(t, run, "WAITING_APPROVAL")
	file := w.backedUp(t)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if r := harness.Run(t, nil, "check-backup", file); r.Status != 0 {
		t.Errorf("%d\n%s%s", r.Status, r.Out, r.Err)
	}
	s := harness.Prepare(t)
	s.Store = t.TempDir()
	s.Command("check-backup", file, "--listen", "127.0.0.1:0")
	s.Restart()
	admin, operator, approver := s.As(w.Admin.Token()), s.As(w.operator.Token()), s.As(w.approver.Token())
	admin.Get("/health").OK(t).Is(t, "status", "degraded")
	waiting := operator.Get("/runs/"+run).OK(t).Is(t, "status", "WAITING_APPROVAL")
	admin.Get("/projects/"+shop).OK(t).Is(t, "enabled", true)
	admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	approver.Post("/approvals/"+waiting.At("waitingFor.approvalId").Text()+"/decision", doc{"decision": "APPROVED", "reason": "no"}).Refused(t, "unavailable")
	operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "unavailable")
	s.As("stranger").Get("/projects").Refused(t, "unauthenticated")
	s.Stop()
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) || len(w.shop.Seen("POST", "/refunds")) != 0 {
		t.Errorf("the file changed or something was sent: %v", err)
	}
	left, err := filepath.Glob(file + "?*")
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestAnEncryptedBackupOpensWithItsKeyAlone: a damaged one is not opened at all, and no plaintext file is left.
func TestAnEncryptedBackupOpensWithItsKeyAlone(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	identity, recipient := keyPair(t)
	other, _ := keyPair(t)
	dir, tmp := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "backup.age")
	env := map[string]string{"TMPDIR": tmp}
	if r := harness.Run(t, env, "backup", file, "--store", w.Store, "--recipient", recipient); r.Status != 0 {
		t.Fatalf("%d %s", r.Status, r.Err)
	}
	sealed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.age")
	if err := os.WriteFile(cut, sealed[:len(sealed)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status int
		says   string // "": a report instead
		args   []string
	}{
		"the key":            {0, "", []string{"check-backup", file, "--identity", identity}},
		"no key":             {2, file + " is encrypted: --identity names the file with the key to it", []string{"check-backup", file}},
		"another key":        {1, file + " can't be decrypted: identity did not match any of the recipients: incorrect identity for recipient block", []string{"check-backup", file, "--identity", other}},
		"no key in the file": {2, "--identity: " + file + " holds no secret key of age, which begins with AGE-SECRET-KEY-", []string{"check-backup", file, "--identity", file}},
		"cut":                {1, cut + " can't be decrypted: failed to decrypt and authenticate payload chunk, file may be corrupted or tampered with", []string{"restore", cut, "--identity", identity, "--store", filepath.Join(dir, "store")}},
		"no recipient":       {2, `--recipient: "age1nobody" is no public key of age, which begins with age1`, []string{"backup", file + "2", "--store", w.Store, "--recipient", "age1nobody"}},
		"over a file":        {1, cut + " exists; a backup never writes over a file", []string{"backup", cut, "--store", w.Store, "--recipient", recipient}},
	} {
		r := harness.Run(t, env, c.args...)
		if r.Status != c.status || c.says != "" && r.Err != "countersign: "+c.says+"\n" {
			t.Errorf("%s: %d\n%s%s", name, r.Status, r.Out, r.Err)
		}
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if held, err := os.ReadDir(dir); err != nil || len(held) != 2 {
		t.Errorf("it holds %v, %v", held, err)
	}
}
