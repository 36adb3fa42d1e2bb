package client

import (
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/countersign/countersign"
)

// StartOption changes how a run is started.
type StartOption func(*Request)

// Key sets the idempotency key of a run: 1 to 255 visible ASCII characters, preferably a stable id
// of the business intent (specification 4, rule 2).
func Key(key string) StartOption { return func(q *Request) { q.IdempotencyKey = key } }

// NewKey makes a unique idempotency key. Store it with your own record of the intent before you
// start the run.
func NewKey() string { return "key-" + rand.Text() }

// Started is the run of a start. Replayed says that an earlier start with the same key had started
// it.
type Started struct {
	countersign.Run
	Replayed bool `json:"-"`
}

func (c *Client) start(ctx context.Context, path string, body any, options []StartOption) (*Started, error) {
	q := Request{Method: http.MethodPost, Path: path, Body: body}
	for _, o := range options {
		o(&q)
	}
	if q.IdempotencyKey == "" {
		q.IdempotencyKey = NewKey()
	}
	r, a, err := answered[countersign.Run](ctx, c, q)
	if err != nil {
		return nil, err
	}
	return &Started{Run: *r, Replayed: a.Header.Get("Idempotency-Replayed") == "true"}, nil
}

// StartRun starts a run of a plan (OPERATOR; contract 6). The answer only means that the run was
// accepted: see [Client.WaitRun].
func (c *Client) StartRun(ctx context.Context, w countersign.RunStart, options ...StartOption) (*Started, error) {
	return c.start(ctx, "/runs", w, options)
}

// Run reads a run with its steps, requests, answers and verifications.
func (c *Client) Run(ctx context.Context, id string) (*countersign.Run, error) {
	return get[countersign.Run](ctx, c, runPath(id))
}

// Rehearsal reports whether a LIVE run sends what the last rehearsal of its plan showed.
func (c *Client) Rehearsal(ctx context.Context, runID string) (*countersign.Rehearsal, error) {
	return get[countersign.Rehearsal](ctx, c, runPath(runID)+"/rehearsal")
}

func runPath(id string) string { return "/runs/" + url.PathEscape(id) }

// Receipt reads the signed receipt of an ended run. Keep the bytes unchanged, since they are signed.
// `countersign receipt verify` verifies them offline.
func (c *Client) Receipt(ctx context.Context, id string) ([]byte, error) {
	_, a, err := answered[countersign.Value](ctx, c, Request{Method: http.MethodGet, Path: runPath(id) + "/receipt"})
	if err != nil {
		return nil, err
	}
	return a.Body, nil
}

// RunFilter selects the runs to list.
type RunFilter struct {
	Paging
	Status     countersign.RunStatus
	PlanID     string
	AgentID    string           // runs of this agent's own
	Text       string           // in a step's inputs or answers: all of a value, or its beginning
	Reason     countersign.Code // for which they ended
	Capability string           // that they call: name or projectId/name
	Since      time.Time        // started then or later
	Until      time.Time        // started before
}

// Runs lists runs, the newest first.
func (c *Client) Runs(ctx context.Context, f RunFilter) (*countersign.Page[countersign.Run], error) {
	q := f.query()
	set(q, "status", string(f.Status))
	set(q, "planId", f.PlanID)
	set(q, "agentId", f.AgentID)
	set(q, "q", f.Text)
	set(q, "reason", string(f.Reason))
	set(q, "capability", f.Capability)
	set(q, "since", instant(f.Since))
	set(q, "until", instant(f.Until))
	return list[countersign.Run](ctx, c, "/runs", q)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Search finds runs by a text or number in their inputs and answers or by the key of their
// start, and tokens by their name.
func (c *Client) Search(ctx context.Context, text string) (*countersign.SearchResult, error) {
	return call[countersign.SearchResult](ctx, c, Request{Method: http.MethodGet, Path: "/search", Query: url.Values{"q": {text}}})
}

// AllRuns walks all pages of [Client.Runs].
func (c *Client) AllRuns(ctx context.Context, f RunFilter) iter.Seq2[countersign.Run, error] {
	return walk(f.Paging, func(p Paging) (*countersign.Page[countersign.Run], error) {
		f.Paging = p
		return c.Runs(ctx, f)
	})
}

// CancelRun cancels a run (OPERATOR). If a side effect is in flight, the run becomes
// RECOVERY_REQUIRED, since the side effect may have happened.
func (c *Client) CancelRun(ctx context.Context, id, reason string) (*countersign.Run, error) {
	return post[countersign.Run](ctx, c, runPath(id)+"/cancel", countersign.Reason{Reason: reason})
}

// ReconcileRun states, with evidence, what happened to an uncertain step (APPROVER, never the
// principal that started the run).
func (c *Client) ReconcileRun(ctx context.Context, id string, w countersign.Reconcile) (*countersign.Run, error) {
	return post[countersign.Run](ctx, c, runPath(id)+"/reconcile", w)
}

// ProbeRun sends the uncertain step's probe and stores its answer as evidence (APPROVER).
func (c *Client) ProbeRun(ctx context.Context, id, stepID string) (*countersign.Run, error) {
	return post[countersign.Run](ctx, c, runPath(id)+"/probe", countersign.ProbeStart{StepID: stepID})
}

// SettleRun ends an uncertain step by what its receiver has signed, or has the receiver withdraw a
// key that it never saw (APPROVER, never the principal that started the run).
func (c *Client) SettleRun(ctx context.Context, id string, w countersign.Settle) (*countersign.Run, error) {
	return post[countersign.Run](ctx, c, runPath(id)+"/settle", w)
}

// HoldRun keeps a run from being redacted and archived, or ends that (ADMIN).
func (c *Client) HoldRun(ctx context.Context, id string, w countersign.HoldWrite) (*countersign.Run, error) {
	return put[countersign.Run](ctx, c, runPath(id)+"/hold", w)
}

// RedactRun removes what an ended run holds (ADMIN, never a principal that had a part in it).
func (c *Client) RedactRun(ctx context.Context, id, reason string) (*countersign.Run, error) {
	return post[countersign.Run](ctx, c, runPath(id)+"/redact", countersign.Reason{Reason: reason})
}
