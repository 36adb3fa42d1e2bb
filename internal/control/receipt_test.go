package control_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// ended makes a run that was cancelled.
func (f *fixture) ended(tenant string) string {
	f.t.Helper()
	p, err := f.service.CreatePlan(background, as(tenant), countersign.PlanWrite{Name: "p", ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeLive, Steps: []countersign.Step{
		{ID: "s", Name: "s", ProjectID: tenant + "-one", Capability: "ping"},
	}})
	f.must(err)
	started, err := f.service.StartRun(background, as(tenant), countersign.RunStart{PlanID: p.ID}, f.newID("key"))
	f.must(err)
	_, err = f.service.CancelRun(background, as(tenant), started.Run.ID, "enough")
	f.must(err)
	return started.Run.ID
}

func (f *fixture) receipt(tenant, run string) []byte {
	f.t.Helper()
	text, err := f.service.Receipt(background, as(tenant), run)
	f.must(err)
	return text
}

func (f *fixture) receiptKeys() (keys records.ReceiptKeys) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		found, _, err := records.AllReceiptKeys.Get(tx, store.Realm, records.ReceiptKeysID)
		if err == nil {
			keys = *found
		}
		return err
	}))
	return keys
}

// TestAReceiptIsWholeWhereverItsReadsLoseTheirConnection: the engine runs a read again.
func TestAReceiptIsWholeWhereverItsReadsLoseTheirConnection(t *testing.T) {
	h := open(t)
	run := h.ended("acme")
	connected := h.store.Store
	for operation := range 60 { // more than a read has
		h.store.Store = rerun.New(connected, func() int { return operation })
		text, err := h.service.Receipt(background, as("acme"), run)
		if v := receipt.Verify(text, nil); err != nil || !v.OK {
			t.Errorf("with the connection lost at operation %d of each read: %v, %+v", operation, err, v)
		}
	}
}

// TestStartsAtOnceShareOneKeyOfReceipts, as those of replicas on one store; a later start changes
// nothing.
func TestStartsAtOnceShareOneKeyOfReceipts(t *testing.T) {
	h := open(t)
	h.must(h.store.Update(background, func(tx store.Tx) error { // as before the first start
		return tx.Delete(records.AllReceiptKeys.Table, store.Realm, records.ReceiptKeysID)
	}))
	before := len(h.log(store.Realm, 0))
	failed := make([]error, 8)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() { failed[i] = h.service.EnsureReceiptKey(background) })
	}
	all.Wait()
	h.must(errors.Join(failed...))
	keys, err := h.service.ReceiptKeys(background)
	if err != nil || len(keys) != 1 {
		t.Fatalf("%v %v", keys, err)
	}
	if n := len(h.log(store.Realm, 0)) - before; n != 1 {
		t.Errorf("%d records of it", n)
	}
	key, _ := receipt.ParseKey(keys[0].PublicKey)
	for _, tenant := range tenants[:2] {
		if v := receipt.Verify(h.receipt(tenant, h.ended(tenant)), key); !v.OK || !v.Origin {
			t.Errorf("%+v", v)
		}
	}
	h.must(h.service.EnsureReceiptKey(background))
	if again, err := h.service.ReceiptKeys(background); err != nil || len(again) != 1 || again[0] != keys[0] {
		t.Errorf("%v %v", again, err)
	}
}

// TestThePrivateHalfOfAKeyLeavesTheStoreNowhere: not in receipts, published keys or
// audit records, in any spelling, rotated ones included.
func TestThePrivateHalfOfAKeyLeavesTheStoreNowhere(t *testing.T) {
	h := open(t)
	run := h.ended("acme")
	var shown strings.Builder
	var seeds [][]byte
	for range 3 {
		shown.Write(h.receipt("acme", run))
		seeds = append(seeds, h.receiptKeys().Seed)
		made, err := h.service.RotateReceiptKey(background, "again")
		h.must(err)
		shown.WriteString(made.PublicKey)
	}
	keys, err := h.service.ReceiptKeys(background)
	h.must(err)
	if len(keys) != 4 || len(keys[0].KeyID) != 64 || !keys[0].RetiredAt.IsZero() || keys[3].RetiredAt.IsZero() {
		t.Errorf("%+v", keys)
	}
	for _, log := range []string{"acme", store.Realm} {
		for _, r := range h.log(log, 0) {
			text, err := countersign.Marshal(r)
			h.must(err)
			shown.Write(text)
		}
	}
	text, err := countersign.Marshal(keys)
	h.must(err)
	shown.Write(text)
	for _, seed := range append(seeds, h.receiptKeys().Seed) {
		for _, spelling := range []string{string(seed), hex.EncodeToString(seed), base64.StdEncoding.EncodeToString(seed), base64.RawURLEncoding.EncodeToString(seed)} {
			if strings.Contains(shown.String(), spelling) {
				t.Fatal("the private half is shown")
			}
		}
	}
}

// TestARunOfAnotherTenantHasNoReceipt.
func TestARunOfAnotherTenantHasNoReceipt(t *testing.T) {
	h := open(t)
	_, err := h.service.Receipt(background, as("beta"), h.ended("acme"))
	wantCode(t, err, countersign.CodeNotFound)
}

// TestALogThatWasTamperedWithGivesNoReceipt, and the answer says that it is the log.
func TestALogThatWasTamperedWithGivesNoReceipt(t *testing.T) {
	h := open(t)
	run := h.ended("acme")
	h.receipt("acme", run)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		row, err := tx.Get(store.Audit, "acme", "0000000000000002")
		if err != nil {
			return err
		}
		row.Doc[len(row.Doc)-3] ^= 1 // in its hash
		return tx.Put(store.Audit, "acme", row, row.Version)
	}))
	_, err := h.service.Receipt(background, as("acme"), run)
	wantCode(t, err, countersign.CodeStateConflict)
	if !strings.Contains(err.Error(), "does not verify") {
		t.Errorf("%v", err)
	}
}
