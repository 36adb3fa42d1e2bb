package mcp

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

func principal(tenant, id string) control.Actor {
	return control.Actor{Principal: access.Principal{Tenant: tenant, ID: id}}
}

// TestWaitsAreBoundedAPrincipalAndInAll: one more answers at once, and one that ends makes room.
func TestWaitsAreBoundedAPrincipalAndInAll(t *testing.T) {
	var w waits
	one := principal("acme", "token:1")
	for range countersign.MaxCallWaits {
		if !w.begin(one) {
			t.Fatal("too few may wait")
		}
	}
	if w.begin(one) {
		t.Error("one principal has more than its waits")
	}
	if !w.begin(principal("beta", "token:1")) {
		t.Error("another tenant's is held up")
	}
	w.end(one)
	if !w.begin(one) {
		t.Error("an ended wait makes no room")
	}
	n := w.all
	for i := 2; w.begin(principal("acme", fmt.Sprint("token:", i))); i++ {
		n++
	}
	if n != countersign.MaxCallWaitsOfAll {
		t.Errorf("%d wait", n)
	}
	w.end(principal("acme", "token:2"))
	if !w.begin(principal("acme", "token:3")) {
		t.Error("there is no room after one has ended")
	}
}
