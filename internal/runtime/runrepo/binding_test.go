package runrepo_test

import (
	"testing"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestACallCarriesTheBindingOfTheTransactionThatDecidedIt: whose the credential is
// needs no store once the call may be made, and a variable that was freed between two
// steps is sent by the first alone.
func TestACallCarriesTheBindingOfTheTransactionThatDecidedIt(t *testing.T) {
	h := open(t)
	p := h.register("acme", "plan-2", step("first", "pay"), step("second", "pay", "first"))
	h.update(func(tx store.Tx) error { return credowner.Bind(tx, shop().AuthSecretEnv, "acme", h.now) })
	h.plans["acme"] = p
	ref, err := h.startOf("acme", "plan-2")
	if err != nil {
		t.Fatal(err)
	}
	first := h.must(ref, run.Resumed{})
	if first.Call == nil || first.Call.BoundTo[shop().AuthSecretEnv] != "acme" {
		t.Fatalf("the first step's call is %+v", first.Call)
	}
	h.update(func(tx store.Tx) error {
		return records.Credentials.Delete(tx, store.Realm, records.CredentialID(shop().AuthSecretEnv))
	})
	second := h.must(ref, h.answer(ref, fine()))
	if second.Call == nil || second.Call.StepID != "second" || second.Call.BoundTo[shop().AuthSecretEnv] != "" {
		t.Errorf("the second step's call is %+v", second.Call)
	}
}
