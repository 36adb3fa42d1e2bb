package runs

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
)

// TestAPrincipalHasSoManyStreamsAndOthersTheirOwn: ids are the tenant's own.
func TestAPrincipalHasSoManyStreamsAndOthersTheirOwn(t *testing.T) {
	var v streamCounts
	one := core.Actor{Principal: access.Principal{ID: "user:ann@example.com", Tenant: "acme"}}
	elsewhere := core.Actor{Principal: access.Principal{ID: "user:ann@example.com", Tenant: "other"}}
	full := fmt.Sprintf("capacity: user:ann@example.com has %d event streams open already; close one, or read the run", countersign.MaxEventStreams)
	for range countersign.MaxEventStreams {
		if err := v.acquire(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.acquire(one); err == nil || err.Error() != full {
		t.Errorf("one more: %v\nwant %s", err, full)
	}
	if err := v.acquire(elsewhere); err != nil {
		t.Error(err)
	}
	v.release(one)
	if err := v.acquire(one); err != nil {
		t.Errorf("after one has left: %v", err)
	}
	for range countersign.MaxEventStreams {
		v.release(one)
	}
	if v.release(elsewhere); len(v.open) > 0 {
		t.Errorf("%v is remembered", v.open)
	}
}
