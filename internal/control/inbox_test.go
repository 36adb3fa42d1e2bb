package control_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/store"
)

// parts are the ids of a desk's list, part by part.
func (r *reviewed) parts(who control.Actor, q control.InboxQuery) (ids []string) {
	r.t.Helper()
	for range 100 {
		in, err := r.service.Inbox(background, who, q)
		r.must(err)
		for _, row := range in.Rows {
			ids = append(ids, row.ID)
		}
		if q.After = in.More; q.After == "" {
			return ids
		}
	}
	r.must(errors.New("the list has no end"))
	return nil
}

// TestTheListOfADeskHasEachOnce, the oldest first, also where many were asked for at one instant,
// one can't be read, and others are put off.
func TestTheListOfADeskHasEachOnce(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	const n = 700
	var want []string
	for i := range n {
		id := fmt.Sprintf("a%04d", i)
		h.approval(id, i/300, countersign.ApprovalPending, []string{"acme-one", "acme-two"}[i%2], "note")
		if id != "a0301" && id != "a0400" {
			want = append(want, id)
		}
	}
	h.breaks(store.Approvals, "a0301")
	s := &spans{Store: h.store.Store}
	h.store.Store = s
	q := control.InboxQuery{Limit: 60, Put: func(id string) bool { return id == "a0400" }}
	got := h.parts(approver("ben@acme.example"), q)
	if !slices.Equal(got, want) {
		t.Errorf("%d are listed, %d wait: %v", len(got), len(want), slices.Compact(slices.Sorted(slices.Values(got))))
	}
	if s.most > 300 {
		t.Errorf("one read lists %d approvals", s.most)
	}
	q.Filter.ProjectID = "acme-two"
	if got := h.parts(approver("ben@acme.example"), q); len(got) != n/2-1 {
		t.Errorf("%d of the project are listed", len(got))
	}
	q.Filter.Order = control.OrderExpires
	if got := h.parts(approver("ben@acme.example"), q); len(got) != n/2-1 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
		t.Errorf("%d of the project are listed in another order", len(got))
	}
}

// TestWhoAskedFindsTheirOwnAmongThoseOfOthers.
func TestWhoAskedFindsTheirOwnAmongThoseOfOthers(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	h.approval("own", 0, countersign.ApprovalPending, "acme-one", "note") // ada asked
	for who, waits := range map[string]bool{"ada@acme": false, "ben@acme.example": true} {
		for _, others := range []bool{false, true} {
			in, err := h.service.Inbox(background, approver(who), control.InboxQuery{Limit: 5, Others: others})
			h.must(err)
			if listed := len(in.Rows) == 1; listed != (waits != others) || in.Total != 1 {
				t.Errorf("%s, others %v: %d rows", who, others, len(in.Rows))
			}
		}
	}
	in, err := h.service.Inbox(background, judge("vera@acme.example", countersign.RoleViewer), control.InboxQuery{Limit: 5})
	h.must(err)
	if len(in.Rows) != 0 {
		t.Error("something waits for who decides nothing")
	}
}
