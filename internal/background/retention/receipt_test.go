package retention_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/retention"
	"github.com/countersign/countersign/internal/evidence/archive"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// proving is a configuration whose receipts say which run they are of, whether it was redacted, and a number of
// their own, as each names another moment.
func (h *fixture) proving() retention.Config {
	made := 0
	return retention.Config{
		Keep: 24 * time.Hour, Dir: h.dir, Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler),
		Receipt: func(_ context.Context, _ string, run countersign.Run, _ []countersign.Approval) ([]byte, error) {
			made++
			return fmt.Appendf(nil, `{"made":%d,"plan":%q,"redacted":%v,"run":%q}`, made, run.PlanSnapshot.ID, run.Redacted != nil, run.ID), nil
		},
	}
}

func (h *fixture) archives(c retention.Config, s store.Store) {
	h.Helper()
	if err := retention.New(c, s, h.repository).Pass(context.Background()); err != nil {
		h.Fatal(err)
	}
}

// receipts are the receipts that are filed, in all files.
func (h *fixture) receipts() (out string) {
	h.Helper()
	names, err := filepath.Glob(filepath.Join(h.dir, tenant, "*"))
	if err != nil {
		h.Fatal(err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			h.Fatal(err)
		}
		if _, err := archive.Read(f, func(e archive.Entry) error {
			out += e.Run.ID + " " + e.Receipt.Raw() + "\n"
			return nil
		}); err != nil {
			h.Errorf("%s: %v", name, err)
		}
		_ = f.Close()
	}
	return out
}

func (h *fixture) due(ids ...string) {
	h.Helper()
	for _, id := range ids {
		h.start(id)
		h.end(id)
	}
	h.now = h.now.Add(25 * time.Hour)
}

// TestAReceiptIsFiledWithItsRun, byte for byte, and made anew for a run that is redacted: that of another run stays.
func TestAReceiptIsFiledWithItsRun(t *testing.T) {
	h := open(t)
	h.due("run-1", "run-2")
	c := h.proving()
	h.archives(c, h.store)
	plan := h.plan.ID
	want := func(when, want string) {
		t.Helper()
		if got := h.receipts(); got != want {
			t.Errorf("%s:\n%swant\n%s", when, got, want)
		}
	}
	want("archived", `run-1 {"made":1,"plan":"`+plan+`","redacted":false,"run":"run-1"}`+"\n"+`run-2 {"made":2,"plan":"`+plan+`","redacted":false,"run":"run-2"}`+"\n")
	h.redact("run-1")
	redacts := retention.NewRedactor(c, h.store)
	for range 2 {
		if err := redacts.Pass(context.Background()); err != nil {
			t.Fatal(err)
		}
		want("redacted", `run-1 {"made":3,"plan":"`+plan+`","redacted":true,"run":"run-1"}`+"\n"+`run-2 {"made":2,"plan":"`+plan+`","redacted":false,"run":"run-2"}`+"\n")
	}
}

func (h *fixture) redact(id string) {
	h.Helper()
	h.update(func(tx store.Tx) error {
		_, err := h.repository.RedactArchived(tx, runrepo.Ref{Tenant: tenant, RunID: id}, countersign.Redaction{By: "user:ada@example.com", At: h.now})
		return err
	})
}

// TestALogThatDoesNotVerifyKeepsNoRun in the store, nor what a redaction removes in a receipt.
func TestALogThatDoesNotVerifyKeepsNoRun(t *testing.T) {
	h := open(t)
	h.due("run-1")
	c := h.proving()
	h.archives(c, h.store)
	broken := c
	broken.Receipt = func(context.Context, string, countersign.Run, []countersign.Approval) ([]byte, error) {
		return nil, countersign.Errorf(countersign.CodeStateConflict, "the audit log does not verify")
	}
	h.due("run-2")
	h.archives(broken, h.store)
	h.redact("run-1")
	if err := retention.NewRedactor(broken, h.store).Pass(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := h.receipts(); h.stored() != "" || strings.Contains(got, "{") || !strings.Contains(got, "run-1") || !strings.Contains(got, "run-2") {
		t.Errorf("the store has %q, the files\n%s", h.stored(), got)
	}
}

// TestADamagedRecordThatAReceiptRestsOnKeepsNoRun: it stays damaged, and would stop the tenant's
// archiving for good.
func TestADamagedRecordThatAReceiptRestsOnKeepsNoRun(t *testing.T) {
	h := open(t)
	h.due("run-1")
	c := h.proving()
	c.Receipt = func(context.Context, string, countersign.Run, []countersign.Approval) ([]byte, error) {
		return nil, fmt.Errorf("token tok-1: %w", store.ErrDamaged)
	}
	h.archives(c, h.store)
	if got := h.receipts(); h.stored() != "" || strings.Contains(got, "{") || !strings.Contains(got, "run-1") {
		t.Errorf("the store has %q, the files\n%s", h.stored(), got)
	}
}

// TestWhatAReceiptRestsOnIsAwaited: where the store can't be read for it, the run stays until it can.
func TestWhatAReceiptRestsOnIsAwaited(t *testing.T) {
	h := open(t)
	h.due("run-1")
	c := h.proving()
	c.Receipt = func(context.Context, string, countersign.Run, []countersign.Approval) ([]byte, error) {
		return nil, errors.New("the disk")
	}
	if err := retention.New(c, h.store, h.repository).Pass(context.Background()); err == nil || !strings.Contains(err.Error(), "the disk") {
		t.Errorf("the pass says %v", err)
	}
	if got := h.stored(); got != "run-1" || len(h.files()) != 0 {
		t.Errorf("the store has %q, the files are %v", got, h.files())
	}
}

// TestTheFileOfWhoCameTooLateIsGone: of two replicas that archive the same runs, or write the same archive anew, one commits
// its file; the other's, which differs by its receipts, is left to nobody.
func TestTheFileOfWhoCameTooLateIsGone(t *testing.T) {
	h := open(t)
	h.due("run-1", "run-2")
	c := h.proving()
	h.archives(c, rerun.Meanwhile(h.store, func() { h.archives(c, h.store) }))
	if files := h.files(); len(files) != 1 {
		t.Errorf("the files are %v", files)
	}
	h.redact("run-1")
	both := rerun.Meanwhile(h.store, func() {
		if err := retention.NewRedactor(c, h.store).Pass(context.Background()); err != nil {
			t.Error(err)
		}
	})
	late := retention.NewRedactor(c, both)
	for range 2 {
		if err := late.Pass(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if files, got := h.files(), h.receipts(); len(files) != 1 || strings.Count(got, `"redacted":true`) != 1 {
		t.Errorf("the files are %v, with\n%s", files, got)
	}
}
