package sqldoc_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// schema opens the database of a new store, plainly.
func schema(t *testing.T) *sql.DB {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "countersign.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var (
	newest    = []store.Order{{Column: "created", Descending: true}}
	lastHeard = []store.Order{{Column: "received", Descending: true}}
	oldest    = []store.Order{{Column: "since"}}
	active    = store.Query{Where: []store.Filter{store.Equal("retired", int64(0))}}
	bySeq     = []store.Order{{Column: "seq", Descending: true}}
	atMost    = func(column string, n int64) store.Filter {
		return store.Filter{Column: column, Op: store.AtMost, Values: []any{n}}
	}
)

// TestListsUseTheirIndex: no list of the product reads a whole table or sorts it, and
// no page reads more than the index of what it skips.
func TestListsUseTheirIndex(t *testing.T) {
	db := schema(t)
	for _, c := range []struct {
		table *store.Table
		q     store.Query
		index string
	}{
		{store.Models, store.Query{}, "sqlite_autoindex_models_1"},
		{store.Projects, store.Query{Where: []store.Filter{atLeastText("id", "p")}}, "sqlite_autoindex_projects_1"},
		{store.Models, active, "models_retired"},
		{store.Projects, active, "projects_retired"},
		{store.Agents, active, "agents_retired"},
		{store.Agents, store.Query{Where: []store.Filter{store.Equal("project", "p"), store.Equal("retired", int64(0))}}, "agents_project_retired"},
		{store.Agents, store.Query{Where: []store.Filter{store.Equal("status", "PENDING"), store.Equal("retired", int64(0))}}, "agents_status_retired"},
		{store.Teams, active, "teams_retired"},
		{store.Agents, store.Query{}, "sqlite_autoindex_agents_1"},
		{store.Agents, equal(nil, "project", "p"), "agents_project"},
		{store.Agents, equal(nil, "status", "PENDING"), "agents_status"},
		{store.Agents, equal(nil, "model", "m"), "agents_model"},
		{store.Instances, store.Query{Where: []store.Filter{store.Equal("agent", "a"), store.Equal("state", "BUSY")}, Order: lastHeard}, "instances_received"},
		{store.Teams, equal(nil, "scope", "eu"), "teams_scope"},
		{store.Plans, store.Query{Order: newest}, "plans_created"},
		{store.Plans, equal(newest, "status", "READY"), "plans_status"},
		{store.Plans, equal(newest, "model", "m"), "plans_model"},
		{store.Plans, equal(newest, "scope", "eu"), "plans_scope"},
		{store.Runs, store.Query{Order: newest}, "runs_created"},
		{store.Runs, equal(newest, "status", "READY"), "runs_status"},
		{store.Runs, equal(newest, "plan", "p"), "runs_plan"},
		{store.Runs, equal(newest, "scope", "eu"), "runs_scope"},
		{store.Runs, equal(newest, "agent", "clerk"), "runs_agent"},
		{store.Approvals, store.Query{Order: newest}, "approvals_created"},
		{store.Approvals, equal(newest, "status", "PENDING"), "approvals_status"},
		{store.Approvals, equal(newest, "run", "r"), "approvals_run"},
		{store.Approvals, equal(newest, "scope", "eu"), "approvals_scope"},
		{store.Approvals, equal(newest, "digest", "d"), "approvals_digest"},
		{store.Steps, store.Query{Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{"r/000"}}, {Column: "id", Op: store.AtMost, Values: []any{"r/999"}}}}, "sqlite_autoindex_steps_1"},
		{store.Steps, store.Query{Where: []store.Filter{atLeastText("sent", "d/1"), {Column: "sent", Op: store.AtMost, Values: []any{"d0"}}}, Order: []store.Order{{Column: "sent", Descending: true}}}, "steps_sent"},
		{store.Unfinished, equal(oldest, "state", "READY"), "unfinished_state"},
		{store.Unfinished, store.Query{Where: []store.Filter{atMost("due", 9)}, Order: []store.Order{{Column: "due"}}}, "unfinished_due"},
		{store.Audit, store.Query{Order: []store.Order{{Column: "id", Descending: true}}}, "sqlite_autoindex_audit_1"},
		{store.Audit, store.Query{Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{"9"}}}}, "sqlite_autoindex_audit_1"},
		{store.Audit, equal(bySeq, "actor", "ann"), "audit_actor"},
		{store.Audit, equal(bySeq, "action", "run.start"), "audit_action"},
		{store.Audit, equal(bySeq, "subject", "run-1"), "audit_subject"},
	} {
		for _, page := range []store.Query{{}, {Limit: 50}, {Limit: 50, Offset: 100}} {
			c.q.Limit, c.q.Offset = page.Limit, page.Offset
			text, args := sqldoc.ListText(c.table, c.q)
			wantIndex(t, db, text, args, c.index, page.Offset > 0)
		}
	}
}

func TestDistinctStepsThroughTheIndex(t *testing.T) {
	db := schema(t)
	for column, index := range map[string]string{"scope": "runs_scope", "status": "runs_status", "plan": "runs_plan"} {
		text, args := sqldoc.DistinctText(store.Runs, column)
		plan := explain(t, db, text, args)
		if strings.Count(plan, "USING COVERING INDEX "+index) != 2 || strings.Contains(plan, "SCAN runs") {
			t.Errorf("%s\n%s", text, plan)
		}
	}
}

func equal(order []store.Order, column, value string) store.Query {
	return store.Query{Where: []store.Filter{store.Equal(column, value)}, Order: order}
}

func atLeastText(column, value string) store.Filter {
	return store.Filter{Column: column, Op: store.AtLeast, Values: []any{value}}
}

// wantIndex: the ids of a page that skips are found in the index alone, and only its
// own rows are then looked up, each by its id, and put in order, which is the one sort.
func wantIndex(t *testing.T, db *sql.DB, text string, args []any, index string, skips bool) {
	t.Helper()
	plan, sorts, looksUp := explain(t, db, text, args), 0, true
	if skips {
		index, sorts, looksUp = "COVERING INDEX "+index, 1, strings.Contains(plan, "(tenant=? AND id=?)")
	}
	if !strings.Contains(plan, index+" ") || !looksUp || strings.Contains(plan, "SCAN") || strings.Count(plan, "TEMP B-TREE") > sorts {
		t.Errorf("want index %s for\n%s\n%s", index, text, plan)
	}
}

func explain(t *testing.T, db *sql.DB, text string, args []any) string {
	t.Helper()
	rows, err := db.Query("EXPLAIN QUERY PLAN "+strings.ReplaceAll(text, "$", "?"), args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "\n")
	}
	return plan.String()
}
