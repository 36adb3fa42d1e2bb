package main

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// perCommit bounds the memory of one commit.
const perCommit = 500

// filler makes ended runs.
type filler struct {
	tenant, plan string
	runs         int
	over, pause  time.Duration
	now          time.Time
	ledger       *runrepo.Repository
}

// commit makes the next runs.
func (f *filler) commit(done int) func(store.Tx) error {
	return func(tx store.Tx) error {
		rec, _, err := records.Plans.Get(tx, f.tenant, f.plan)
		if err != nil {
			return fmt.Errorf("plan %s: %w", f.plan, err)
		}
		p, err := f.ledger.Plan(tx, f.tenant, f.plan, rec.PlanDigest)
		if err != nil {
			return err
		}
		for n := done; n < min(done+perCommit, f.runs); n++ {
			f.now = f.now.Add(f.pause)
			if err := f.one(tx, p, n); err != nil {
				return err
			}
		}
		return nil
	}
}

// one makes a run and answers its steps one after the other.
func (f *filler) one(tx store.Tx, p *countersign.Plan, n int) error {
	id := f.id(n)
	r := run.New(p, id, by, "history-"+id, f.now)
	claim := &records.Claim{RunID: r.ID, Fingerprint: fingerprint}
	if _, err := records.Claims.Put(tx, f.tenant, r.IdempotencyKey, claim, 0); err != nil {
		return err
	}
	held, err := f.ledger.Start(tx, p, f.tenant, r, access.Requester{ID: by}, runrepo.Request{ID: "history"})
	if err != nil {
		return err
	}
	var event run.Event = run.Resumed{}
	for {
		moved, err := f.ledger.Apply(tx, held.Ref, held, event, runrepo.System)
		if err != nil {
			return err
		}
		if moved.Call == nil {
			return ended(moved.Run.Run())
		}
		held, event = moved.Run, run.Returned{Step: moved.Call.Step, Attempt: moved.Call.Attempt, Outcome: answered}
	}
}

func ended(r *countersign.Run) error {
	if r.Status != countersign.RunCompleted {
		return fmt.Errorf("a run of this plan comes to %s (%s): take one that asks for no approval and expects \"ok\":true", r.Status, r.Error)
	}
	return nil
}

// id makes an id that begins with the time, as the service does.
func (f *filler) id(n int) string {
	return fmt.Sprintf("run-%011x%08x", f.now.UnixMilli(), n)
}

const (
	by          = "token:history"
	fingerprint = "3b1f0c9d2a4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
)

// answered is the simulated answer of the receiver.
var answered = request.Outcome{
	Response: &countersign.Response{StatusCode: 200, Bytes: 23, DurationMs: 4, BodySHA256: countersign.BodyDigest(hex.EncodeToString(make([]byte, 32)))},
	Body:     countersign.RawValue(`{"ok":true,"id":"123456"}`),
}
