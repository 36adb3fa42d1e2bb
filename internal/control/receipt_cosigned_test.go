package control_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// cosigners are three witnesses.
func cosigners() (all []checkpoint.Cosigner) {
	for i, name := range []string{"one.example", "two.example", "three.example"} {
		all = append(all, checkpoint.NewCosigner(name, bytes.Repeat([]byte{byte(i + 1)}, 32), 1_700_000_000))
	}
	return all
}

// cosign keeps a head of acme's log, as so many records had it, with these cosignatures.
func (f *fixture) cosign(epoch int, size int64, change func(*tlog.Hash), by ...checkpoint.Cosigner) {
	f.t.Helper()
	f.must(f.store.Update(background, func(tx store.Tx) error {
		key, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
		if err != nil {
			return err
		}
		at := *key
		at.Epoch = epoch
		grown, err := (&audit.Prover{}).Grown(tx, "acme", 0, size)
		if err != nil {
			return err
		}
		if change != nil {
			change(&grown.Root)
		}
		var signers []note.Signer
		for _, c := range by {
			signers = append(signers, c)
		}
		signed, err := checkpoint.Sign(checkpoint.Head{Origin: at.Origin("acme"), Size: size, Hash: grown.Root}, signers...)
		if err == nil {
			_, err = records.CosignedHeads.Put(tx, "acme", records.CosignedID(epoch, size), &records.Cosigned{Size: size, Epoch: epoch, Checkpoint: signed}, 0)
		}
		return err
	}))
}

func (f *fixture) logSize() (size int64) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) (err error) { size, err = audit.Size(tx, "acme"); return err }))
	return size
}

func (f *fixture) growLog(n int) {
	f.t.Helper()
	f.must(f.store.Update(background, func(tx store.Tx) error {
		more := make([]countersign.AuditRecord, n)
		for i := range more {
			more[i] = countersign.AuditRecord{At: time.Now(), Actor: "user:ada@acme", Action: "projects.check", Subject: "project/acme-one", Outcome: countersign.AuditDone}
		}
		return audit.Append(tx, "acme", more)
	}))
}

// TestAReceiptHasTheOldestCosignedHeadThatContainsIt: of the most witnesses that there are, of the
// log as it is, and none while there is none.
func TestAReceiptHasTheOldestCosignedHeadThatContainsIt(t *testing.T) {
	h := open(t)
	h.must(h.service.EnsureLogKey(background))
	all := cosigners()
	for _, c := range all {
		h.cfg.Witnesses = append(h.cfg.Witnesses, c.Key)
	}
	h.service = h.on(h.store)
	run := h.ended("acme")
	end := h.logSize()
	h.growLog(700)
	asked := checkpoint.Policy{Witnesses: h.cfg.Witnesses[:1]}
	wants := func(what string, size int64, by int) {
		t.Helper()
		v := receipt.VerifyKnowing(h.receipt("acme", run), nil, receipt.Known{Policy: checkpoint.Policy{Witnesses: h.cfg.Witnesses, Quorum: max(by, 1), Epoch: 1}})
		if size == 0 {
			if v.OK || !strings.Contains(v.Problem, "no witness has cosigned a head of the log that contains the receipt") {
				t.Errorf("%s: %+v", what, v)
			}
			return
		}
		if !v.OK || v.Cosigned.Size != size || len(v.Cosigned.By) != by {
			t.Errorf("%s: %+v, %+v; want %d by %d", what, v, v.Cosigned, size, by)
		}
	}
	wants("before the first", 0, 0)
	h.cosign(0, end-1, nil, all...)
	wants("one without the end of the run", 0, 0)
	h.cosign(0, end+1, func(root *tlog.Hash) { root[3] ^= 1 }, all...)
	wants("one of another log", 0, 0)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		return tx.Put(store.Meta, "acme", store.Row{ID: records.CosignedID(0, end+2), Doc: []byte("{")}, 0)
	}))
	wants("one that can't be read", 0, 0)
	h.cosign(1, end+600, nil, all[0])
	h.must(h.store.Update(background, func(tx store.Tx) error {
		key, version, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
		if err == nil {
			key.Epoch = 1
			_, err = records.LogKeys.Put(tx, store.Realm, records.LogKeyID, key, version)
		}
		return err
	}))
	wants("one of a later epoch", end+600, 1)
	h.cosign(0, end+400, nil, all[0])
	wants("an older one", end+400, 1)
	h.cosign(0, end+5, nil, all[0])
	wants("the oldest", end+5, 1)
	h.cosign(0, end+300, nil, all[0], all[2])
	wants("one that more have cosigned", end+300, 2)
	h.cosign(0, end+500, nil, all[1], all[2])
	wants("a later one that as many have cosigned", end+300, 2)
	h.cosign(1, end+650, nil, all...)
	wants("one that all have cosigned", end+650, 3)
	if v := receipt.VerifyKnowing(h.receipt("acme", run), nil, receipt.Known{Policy: asked}); v.OK || !strings.Contains(v.Problem, "is of epoch 1 of its log") {
		t.Errorf("an epoch that isn't named: %+v", v)
	}
}

// TestANewEpochIsAnotherLogToWitnesses: each log has a new origin and key, and a first record there
// with the reason and what was cosigned last; what witnesses said of the one before has ended.
func TestANewEpochIsAnotherLogToWitnesses(t *testing.T) {
	h := open(t)
	h.must(h.service.EnsureLogKey(background))
	w := cosigners()[0]
	h.cfg.Witnesses = []checkpoint.Key{w.Key}
	h.service = h.on(h.store)
	h.growLog(5)
	size := h.logSize()
	h.cosign(0, size, nil, w)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		_, err := records.Rewinds.Put(tx, store.Realm, records.RewoundID(w.Key.KeyHash(), "acme"), &records.Rewound{Witness: w.Key.String(), Log: "acme", How: "so"}, 0)
		return err
	}))
	if names, err := h.service.AuditRewound(background, as("acme")); err != nil || len(names) != 1 || names[0] != "one.example" {
		t.Errorf("%v, %v", names, err)
	}
	if names, err := h.service.AuditRewound(background, as("beta")); err != nil || len(names) > 0 {
		t.Errorf("another tenant's: %v, %v", names, err)
	}
	h.must(h.store.Update(background, func(tx store.Tx) error {
		for _, tenant := range tenants {
			if _, err := records.Tenants.Put(tx, store.Realm, tenant, &countersign.Tenant{ID: tenant}, 0); err != nil {
				return err
			}
		}
		return nil
	}))
	before, _, err := h.service.LogKeys(background, as("acme"))
	h.must(err)
	begun, err := h.service.BeginEpoch(background, "the disk was lost")
	h.must(err)
	after, _, err := h.service.LogKeys(background, as("acme"))
	h.must(err)
	if begun.Epoch != 1 || len(begun.Logs) != len(tenants)+1 || before == after {
		t.Errorf("%+v, %s, %s", begun, before, after)
	}
	for _, l := range begun.Logs {
		log := h.log(l.TenantID, 0)
		r := log[len(log)-1]
		first := l.TenantID == "acme"
		if int64(len(log)) != l.Records+1 || r.Action != "audit.epoch" || r.Reason != "the disk was lost" || !strings.HasSuffix(r.After, "/1") || r.After != r.Before+"/1" || (r.Cosigned != "") != first || (l.Cosigned == size) != first {
			t.Errorf("%+v: %+v", l, r)
		}
	}
	if names, err := h.service.AuditRewound(background, as("acme")); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := h.service.Checkpoint(background, as("acme"), false); err == nil {
		t.Error("the checkpoint of the epoch before is shown")
	}
	again, err := h.service.BeginEpoch(background, "again")
	if err != nil || again.Epoch != 2 {
		t.Errorf("%+v, %v", again, err)
	}
}
