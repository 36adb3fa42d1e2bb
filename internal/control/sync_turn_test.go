package control_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/store"
)

// readsInTurn counts what functions read in their turn to write: each is a message to a database
// elsewhere, while all other writers wait.
type readsInTurn struct {
	store.Store
	reads, rows int
}

func (r *readsInTurn) Update(ctx context.Context, fn func(store.Tx) error) error {
	return r.Store.Update(ctx, func(tx store.Tx) error { return fn(&countedReads{tx, r}) })
}

type countedReads struct {
	store.Tx
	of *readsInTurn
}

func (c *countedReads) Get(t *store.Table, tenant, id string) (store.Row, error) {
	c.of.reads, c.of.rows = c.of.reads+1, c.of.rows+1
	return c.Tx.Get(t, tenant, id)
}

func (c *countedReads) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := c.Tx.List(t, tenant, q)
	c.of.reads, c.of.rows = c.of.reads+1, c.of.rows+len(rows)
	return rows, err
}

// Put reads a row that it isn't told of, unless its table is guarded.
func (c *countedReads) Put(t *store.Table, tenant string, row store.Row, expected int64) error {
	if !t.Guarded && !row.New && !row.Seen {
		c.of.reads, c.of.rows = c.of.reads+1, c.of.rows+1
	}
	return c.Tx.Put(t, tenant, row, expected)
}

// TestAManifestReadsLittleInItsTurn, however many agents and models it has: what it changes was
// found before.
func TestAManifestReadsLittleInItsTurn(t *testing.T) {
	h := open(t)
	const many = 60
	revisions := make([]int64, many)
	for i := range many {
		h.must(h.putModel(as("acme"), fmt.Sprint("of", i), 0))
	}
	crowd := func(changed func(i int) bool, revision int64) (items []countersign.ManifestAgent) {
		for i := range many {
			if changed(i) {
				revisions[i] = revision
			}
			items = append(items, item(fmt.Sprint("a", i), modelled(fmt.Sprint("of", i)), at(revisions[i])))
		}
		return items
	}
	counted := &readsInTurn{Store: h.store.Store}
	h.service = h.on(counted)
	for n, c := range []struct {
		what    string
		changed func(i int) bool
	}{
		{"all are new", func(int) bool { return true }},
		{"all change", func(int) bool { return true }},
		{"half of them change", func(i int) bool { return i%2 == 0 }},
	} {
		counted.reads, counted.rows = 0, 0
		h.sync(crowd(c.changed, int64(n+1))...)
		// The function is called twice. It sees the models, an agent of each, and the agents that
		// stay as they are.
		if counted.reads > 2*10 || counted.rows > 2*(5*many/2+10) {
			t.Errorf("%s: %d reads of %d rows", c.what, counted.reads, counted.rows)
		}
	}
}

// TestAManifestIsAppliedToTheAgentsAsTheyAre: what another replica does between the look and the turn
// to write is seen, in agents that change, that stay as they are, and that are new.
func TestAManifestIsAppliedToTheAgentsAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		what     string
		meantime []countersign.ManifestAgent
	}{
		{"of what changes", []countersign.ManifestAgent{item("a", at(3))}},
		{"of what stays", []countersign.ManifestAgent{item("b", at(3))}},
		{"of what is new", []countersign.ManifestAgent{item("c", at(3))}},
	} {
		h := open(t)
		h.sync(item("a"), item("b"))
		h.store.before = func() { h.elsewhere(func() { h.sync(c.meantime...) }) }
		_, err := h.service.SyncAgents(background, as("acme"), "acme-one", manifest(item("a", at(2)), item("b"), item("c")))
		if countersign.ErrorCode(err) != countersign.CodeManifestConflict || !contains(err, "agent "+c.meantime[0].ExternalAgentID+" is at source revision 3") {
			t.Errorf("%s: %v", c.what, err)
		}
		page, err := h.service.Agents(background, as("acme"), control.List{Limit: 50}, control.AgentFilter{})
		h.must(err)
		for _, a := range page.Items {
			if a.SourceRevision == 2 || a.ExternalAgentID == "c" && a.SourceRevision == 1 {
				t.Errorf("%s: a part is applied: %+v", c.what, a)
			}
		}
	}
}

// TestAManifestThatAnotherOneMadeNeedlessChangesNothing: both replicas were sent the same.
func TestAManifestThatAnotherOneMadeNeedlessChangesNothing(t *testing.T) {
	h := open(t)
	h.sync(item("a"), item("b"))
	sent := []countersign.ManifestAgent{item("a", at(2)), item("b", at(2)), item("c")}
	h.store.before = func() { h.elsewhere(func() { h.sync(sent...) }) }
	out, err := h.service.SyncAgents(background, as("acme"), "acme-one", manifest(sent...))
	h.must(err)
	for i, want := range []int64{2, 2, 1} {
		if out[i].Revision != want || out[i].ExternalAgentID != sent[i].ExternalAgentID {
			t.Errorf("%+v is at revision %d, not %d", out[i], out[i].Revision, want)
		}
	}
}
