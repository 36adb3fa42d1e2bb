package control_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
)

// keptHashes are the ids of the hashes that are kept with a tenant's audit log.
func (f *fixture) keptHashes(tenant string) (ids []string) {
	f.must(f.store.View(background, func(tx store.Tx) error {
		rows, err := tx.List(store.AuditHeads, tenant, store.Query{Where: []store.Filter{{Column: "id", Op: store.AtMost, Values: []any{"99"}}}})
		ids = nil
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
		return err
	}))
	return ids
}

// earlierLog gives a tenant a long audit log as an earlier release left it.
func (f *fixture) earlierLog(tenant string) {
	long := make([]countersign.AuditRecord, 20<<8)
	for i := range long {
		long[i] = countersign.AuditRecord{At: time.Now(), Actor: "user:ada@acme", Action: "projects.check", Subject: "project/acme-one", Outcome: countersign.AuditDone}
	}
	f.must(f.store.Update(background, func(tx store.Tx) error { return audit.Append(tx, tenant, long) }))
	for _, id := range f.keptHashes(tenant) {
		f.must(f.store.Update(background, func(tx store.Tx) error { return tx.Delete(store.AuditHeads, tenant, id) }))
	}
}

// TestTheFirstReceiptOnAnEarlierLogKeepsItsHashes, so that no later start reads the whole log.
func TestTheFirstReceiptOnAnEarlierLogKeepsItsHashes(t *testing.T) {
	h := open(t)
	run := h.ended("acme")
	h.earlierLog("acme")
	for range 2 {
		if v := receipt.Verify(h.receipt("acme", run), nil); !v.OK {
			t.Errorf("the receipt: %+v", v)
		}
		h.service.Close()
		if got := h.keptHashes("acme"); len(got) != 21 || got[0] != "08-0000000000000000" || got[20] != "12-0000000000000000" {
			t.Errorf("%q are kept", got)
		}
		h.service = h.on(h.store)
	}
}

// TestAReceiptNeedsNoStoreThatTakesHashes: where they can't be written, the log says so.
func TestAReceiptNeedsNoStoreThatTakesHashes(t *testing.T) {
	h := open(t)
	run := h.ended("acme")
	h.earlierLog("acme")
	var log bytes.Buffer
	s := control.New(h.cfg, full{h.store}, h.repository, h, &updates.Hub{}, healthyProber{h}, slog.New(slog.NewTextHandler(&log, nil)))
	text, err := s.Receipt(background, as("acme"), run)
	if v := receipt.Verify(text, nil); err != nil || !v.OK {
		t.Errorf("the receipt: %+v, %v", v, err)
	}
	s.Close()
	const warning = `the hashes of the audit log are not kept: the next start reads it for its first receipt" tenant=acme error="the disk is full"`
	if !strings.Contains(log.String(), warning) || len(h.keptHashes("acme")) != 0 {
		t.Errorf("the log says %q, and %q are kept", log.String(), h.keptHashes("acme"))
	}
}

// full is a store that takes no changes.
type full struct{ store.Store }

func (full) Update(context.Context, func(store.Tx) error) error {
	return errors.New("the disk is full")
}
