package control_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/store"
)

// spans is a store that knows how many approvals one read of it has listed at most.
type spans struct {
	store.Store
	most int
}

func (s *spans) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error {
		of := &spansTx{Tx: tx}
		err := fn(of)
		s.most = max(s.most, of.rows)
		return err
	})
}

type spansTx struct {
	store.Tx
	rows int
}

func (s *spansTx) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := s.Tx.List(t, tenant, q)
	s.rows += len(rows)
	return rows, err
}

// TestALookUpOfApprovalsReadsSpansOf500, and finds each approval once, also where more than a
// span were asked for at one instant, and one can't be read.
func TestALookUpOfApprovalsReadsSpansOf500(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	const n = 1203
	for i := range n {
		h.approval(fmt.Sprintf("a%04d", i), i/700, countersign.ApprovalPending, []string{"acme-one", "acme-two"}[i%2], "note")
	}
	h.breaks(store.Approvals, "a0701")
	s := &spans{Store: h.store.Store}
	h.store.Store = s
	seen := map[string]bool{}
	for offset := 0; ; offset += 200 {
		page, err := h.service.Approvals(background, as("acme"), control.List{Limit: 200, Offset: offset}, control.ApprovalFilter{Status: "PENDING", ProjectID: "acme-one", Order: control.OrderExpires})
		h.must(err)
		for _, a := range page.Items {
			if seen[a.ID] || a.ProjectID != "acme-one" {
				t.Fatalf("%s of %s comes twice or shouldn't", a.ID, a.ProjectID)
			}
			seen[a.ID] = true
		}
		if page.NextOffset == nil {
			break
		}
	}
	if len(seen) != (n+1)/2 || s.most > 500 || s.most < 400 {
		t.Errorf("%d of %d approvals were found, in spans of %d", len(seen), (n+1)/2, s.most)
	}
	count, err := h.service.CountApprovals(background, as("acme"), control.ApprovalFilter{ProjectID: "acme-two"})
	h.must(err)
	if count != n/2-1 { // but the one that can't be read
		t.Errorf("%d are counted", count)
	}
}
