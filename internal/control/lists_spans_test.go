package control_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/store"
)

// widest is a store that knows how many bytes of documents one query has read at most.
type widest struct {
	store.Store
	bytes int
}

func (w *widest) View(ctx context.Context, fn func(store.Tx) error) error {
	return w.Store.View(ctx, func(tx store.Tx) error { return fn(widestTx{tx, w}) })
}

type widestTx struct {
	store.Tx
	of *widest
}

func (w widestTx) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := w.Tx.List(t, tenant, q)
	bytes := 0
	for _, r := range rows {
		bytes += len(r.Doc)
	}
	w.of.bytes = max(w.of.bytes, bytes)
	return rows, err
}

// TestAListHasFewDocumentsInMemory, however many its page has: each may have some mebibytes,
// and what isn't shown of one is let go before the next ones are read.
func TestAListHasFewDocumentsInMemory(t *testing.T) {
	const n = 24
	h := open(t)
	for i := range n {
		h.asks(t, as("acme"), "digest")
		large := strings.Repeat("x", body)
		_, err := h.service.CreatePlan(background, as("acme"), countersign.PlanWrite{
			Name: "p", ModelID: "m1", ModelRevision: 1, Steps: []countersign.Step{{ID: "s", ProjectID: "acme-one", Capability: "ping", Name: large}},
		})
		h.must(err)
		_, err = h.service.PutProject(background, as("acme"), fmt.Sprint("acme-l", i), countersign.ProjectWrite{
			Name: "p", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{{Name: "c", Method: "POST", Path: "/c", Description: large}},
		})
		h.must(err)
	}
	all, who := control.List{Limit: 200}, approver("ben@acme.example")
	for name, list := range map[string]func() (int, error){
		"approvals": func() (int, error) {
			p, err := control.ListApprovals(background, h.service, who, all, control.ApprovalFilter{}, func(countersign.Approval) (bool, error) { return true, nil })
			return len(p.Items), err
		},
		"plans": func() (int, error) {
			p, err := control.ListPlans(background, h.service, who, all, control.PlanFilter{}, func(countersign.Plan) (bool, error) { return true, nil })
			return len(p.Items), err
		},
		"projects": func() (int, error) {
			p, err := control.ListProjects(background, h.service, who, all, func(countersign.Project) (bool, error) { return true, nil })
			return len(p.Items), err
		},
		"what waits": func() (int, error) {
			p, _, err := h.service.Waiting(background, who, n)
			for _, w := range p {
				if w.Approval.Request.Body.Raw() != "" || w.Approval.InputSnapshot != nil {
					t.Error("the overview keeps what would be sent")
				}
			}
			return len(p), err
		},
		"the count": func() (int, error) { return h.service.CountApprovals(background, who, control.ApprovalFilter{}) },
	} {
		w := &widest{Store: h.store.Store}
		h.store.Store = w
		got, err := list()
		h.store.Store = w.Store
		h.must(err)
		if got < n || w.bytes > 5*(body+8<<10) {
			t.Errorf("%s: a query of %d rows reads %d bytes, each row has some %d", name, got, w.bytes, body)
		}
	}
}
