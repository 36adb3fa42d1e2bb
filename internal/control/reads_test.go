package control_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestAListOfApprovalsCostsWhatItsRowsCost, however many of them ask for the same.
func TestAListOfApprovalsCostsWhatItsRowsCost(t *testing.T) {
	list := func(n int) reads {
		h := open(t)
		for range n {
			h.asks(t, as("acme"), "digest-1")
		}
		return h.reading(func() {
			page, err := h.service.Approvals(background, approver("ben@acme.example"), control.List{Limit: 200}, control.ApprovalFilter{})
			h.must(err)
			if len(page.Items) != n {
				t.Fatalf("%d of %d approvals", len(page.Items), n)
			}
		})
	}
	one, two, four := list(8), list(16), list(32)
	if four.rows-two.rows > 2*(two.rows-one.rows)+8 || four.bytes-two.bytes > 2*(two.bytes-one.bytes)+1<<10 {
		t.Errorf("8, 16 and 32 approvals read %+v, %+v, %+v", one, two, four)
	}
	if most := 3 * 32 * body; four.bytes > most {
		t.Errorf("32 approvals of %d bytes read %d", body, four.bytes)
	}
}

// TestAPageOfApprovalsCostsTheSameHoweverManyWait, whoever decides them: neither the other
// approvals nor the users and groups that there are besides are read.
func TestAPageOfApprovalsCostsTheSameHoweverManyWait(t *testing.T) {
	const shown = 5
	page := func(waiting int) (list, overview reads) {
		h := open(t)
		for i := range waiting {
			h.must(h.store.Update(background, func(tx store.Tx) error {
				id := fmt.Sprint("group", i)
				_, err := records.Groups.Put(tx, "acme", records.GroupID(id), &countersign.Group{ID: id, Members: []string{"ben@acme.example"}}, 0)
				return err
			}))
			id := h.asks(t, as("acme"), fmt.Sprint("digest-", i))
			h.must(h.store.Update(background, func(tx store.Tx) error {
				rec, version, err := records.Approvals.Get(tx, "acme", id)
				if err != nil {
					return err
				}
				rec.Groups, rec.ApprovalsNeeded = []string{fmt.Sprint("group", i)}, 2
				_, err = records.Approvals.Put(tx, "acme", id, rec, version)
				return err
			}))
		}
		list = h.reading(func() {
			found, err := h.service.Approvals(background, approver("ben@acme.example"), control.List{Limit: shown}, control.ApprovalFilter{Status: "PENDING", OldestFirst: true})
			h.must(err)
			if len(found.Items) != shown || found.Total != waiting {
				t.Fatalf("%d of %d approvals", len(found.Items), found.Total)
			}
		})
		overview = h.reading(func() {
			found, _, err := h.service.Waiting(background, approver("ben@acme.example"), shown)
			h.must(err)
			if len(found) != shown {
				t.Fatalf("%d wait", len(found))
			}
		})
		return list, overview
	}
	fewList, few := page(8)
	manyList, many := page(64)
	if manyList.rows > fewList.rows || many.rows > few.rows {
		t.Errorf("with 8 waiting the list reads %+v and the overview %+v, with 64 %+v and %+v", fewList, few, manyList, many)
	}
}

// TestADecisionReadsNoOtherRunsInItsTransaction: where else the same was asked for is
// looked up when the decision is stored.
func TestADecisionReadsNoOtherRunsInItsTransaction(t *testing.T) {
	h := open(t)
	var ids []string
	for range 20 {
		ids = append(ids, h.asks(t, as("acme"), "digest-1"))
	}
	var decided countersign.Approval
	got := h.reading(func() {
		var err error
		decided, err = h.service.Decide(background, approver("ben@acme.example"), ids[0], countersign.Decision{Decision: countersign.ApprovalRejected, Reason: "twice"})
		h.must(err)
	})
	if len(decided.Same) != 10 || decided.Status != countersign.ApprovalRejected {
		t.Errorf("%s, %d the same", decided.Status, len(decided.Same))
	}
	if got.written > 10*body {
		t.Errorf("the transaction read %d bytes: more than its own approval's", got.written)
	}
}

// body is how large what an approval of asks is.
const body = 10 << 10

// asks stores a run that waits for an approval of a request with this digest.
func (f *fixture) asks(t *testing.T, a control.Actor, digest string) (approval string) {
	t.Helper()
	approval = "apr-" + f.stands(t, a, time.Now(), countersign.RunWaitingApproval, countersign.WaitApproval)
	f.must(f.store.Update(background, func(tx store.Tx) error {
		rec, version, err := records.Approvals.Get(tx, a.Tenant, approval)
		if err != nil {
			return err
		}
		rec.RequestDigest, rec.StepID = digest, "s"
		rec.Request.Body = countersign.String(strings.Repeat("x", body))
		if _, err := records.Approvals.Put(tx, a.Tenant, approval, rec, version); err != nil {
			return err
		}
		steps := records.Steps(rec.RunID, 0, "")
		step, version, err := steps.Get(tx, a.Tenant, records.StepID(rec.RunID, 0))
		if err != nil {
			return err
		}
		step.Status, step.ApprovalID = countersign.StepWaitingApproval, approval
		if _, err := steps.Put(tx, a.Tenant, records.StepID(rec.RunID, 0), step, version); err != nil {
			return err
		}
		r, version, err := records.Runs.Get(tx, a.Tenant, rec.RunID)
		if err != nil {
			return err
		}
		r.WaitingFor.ApprovalID, r.WaitingFor.StepID, r.WaitingFor.ExpiresAt = approval, "s", rec.ExpiresAt
		_, err = records.Runs.Put(tx, a.Tenant, r.ID, r, version)
		return err
	}))
	return approval
}

// TestTheNamesOfAgentsCostTheSameHoweverManyInstancesAreHeard, and are those of the actor's
// projects.
func TestTheNamesOfAgentsCostTheSameHoweverManyInstancesAreHeard(t *testing.T) {
	h := open(t)
	ids := h.sync(item("a"), item("b"))
	names := func(a control.Actor) (names []control.AgentName, cost reads) {
		cost = h.reading(func() {
			var err error
			names, err = h.service.AgentNames(background, a, control.List{Limit: 200})
			h.must(err)
		})
		return names, cost
	}
	_, before := names(as("acme"))
	for i, id := range ids {
		for n := range 5 {
			h.beat(id, newHeartbeat(fmt.Sprint("instance-", n), int64(i)))
		}
	}
	got, after := names(as("acme"))
	slices.SortFunc(got, func(a, b control.AgentName) int { return strings.Compare(a.Name, b.Name) })
	if want := []control.AgentName{{ID: ids[0], Name: "a"}, {ID: ids[1], Name: "b"}}; !slices.Equal(got, want) || before != after {
		t.Errorf("%+v for %+v, before heartbeats %+v", got, after, before)
	}
	other := as("acme")
	other.Projects = []string{"acme-two"}
	if got, _ := names(other); len(got) != 0 {
		t.Errorf("who is limited to another project sees %+v", got)
	}
}

// auditReads gives what is read meanwhile.
func (f *fixture) reading(do func()) reads {
	c := &counting{Store: f.store.Store}
	f.store.Store = c
	defer func() { f.store.Store = c.Store }()
	do()
	return c.reads
}

// reads are what a fixture's transactions read: rows, and bytes of their documents; and in
// turns to write, these bytes and rows.
type reads struct{ rows, bytes, written, turns int }

// counting is a store that counts what is read.
type counting struct {
	store.Store
	reads
}

func (c *counting) View(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.View(ctx, func(tx store.Tx) error { return fn(countingTx{tx, &c.reads, false}) })
}

func (c *counting) Update(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.Update(ctx, func(tx store.Tx) error { return fn(countingTx{tx, &c.reads, true}) })
}

type countingTx struct {
	store.Tx
	of     *reads
	writes bool
}

func (c countingTx) read(rows ...store.Row) {
	for _, r := range rows {
		c.of.rows++
		c.of.bytes += len(r.Doc)
		if c.writes {
			c.of.written += len(r.Doc)
			c.of.turns++
		}
	}
}

func (c countingTx) Get(t *store.Table, tenant, id string) (store.Row, error) {
	r, err := c.Tx.Get(t, tenant, id)
	if err == nil {
		c.read(r)
	}
	return r, err
}

func (c countingTx) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := c.Tx.List(t, tenant, q)
	c.read(rows...)
	return rows, err
}
