package test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// beats sends an agent's heartbeat.
func (w *world) beats(id string, b doc) *harness.Answer {
	return w.operator.Post("/agents/"+id+"/heartbeat", b)
}

// away is a timestamp with that distance from now.
func away(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }

func TestAHeartbeatIsAcceptedFromPendingAdmittedAndSuspendedAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.sync(t, agentItem("pending", "note", ""), agentItem("admitted", "note", ""), agentItem("suspended", "note", ""))
	w.tenantAdmin.Post("/agents/"+ids[1]+"/admit", doc{"reason": "r"}).OK(t)
	w.tenantAdmin.Post("/agents/"+ids[2]+"/suspend", doc{"reason": "r"}).OK(t)
	for state, c := range map[string]struct{ id, liveness string }{"IDLE": {ids[0], "ONLINE"}, "BUSY": {ids[1], "BUSY"}, "ERROR": {ids[2], "ERROR"}} {
		asked := time.Now().Truncate(time.Second)
		before := w.agent(t, c.id).Is(t, "liveness", "UNKNOWN") // registered, but without a heartbeat
		ack := w.beats(c.id, beat("i 1/ü", 3, state)).OK(t)
		ack.Is(t, "acknowledged", true).Is(t, "duplicate", false).Is(t, "agentId", c.id).Is(t, "instanceId", "i 1/ü").Is(t, "sequence", 3).Is(t, "liveness", c.liveness)
		if received := instant(t, ack, "receivedAt"); received.Before(asked) || received.After(time.Now()) {
			t.Errorf("asked at %s and received at %s", asked, received)
		}
		after := w.agent(t, c.id).Is(t, "liveness", c.liveness).Is(t, "lastHeartbeatAt", ack.At("receivedAt")).Is(t, "instances.0.instanceId", "i 1/ü")
		for _, field := range []string{"revision", "status", "suspended", "updatedAt"} {
			after.Is(t, field, before.At(field))
		}
	}
	w.operator.Aliased().Post("/agents/"+ids[0]+"/heartbeat", beat("i 1/ü", 4, "BUSY")).OK(t).Is(t, "liveness", "BUSY")
}

func TestAHeartbeatIsCheckedForDuplicateThenSequenceThenClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	first := beat("i", 5, "IDLE")
	received := w.beats(id, first).OK(t).At("receivedAt")
	again := w.beats(id, first).OK(t).Is(t, "acknowledged", true).Is(t, "duplicate", true).Is(t, "receivedAt", received).Is(t, "sequence", 5).Is(t, "liveness", "ONLINE")
	w.beats(id, doc{"timestamp": first["timestamp"], "state": "IDLE", "sequence": 5, "instanceId": "i"}).OK(t).Is(t, "receivedAt", again.At("receivedAt"))
	w.agent(t, id).Is(t, "lastHeartbeatAt", received) // not refreshed
	for path, v := range map[string]any{"state": "BUSY", "timestamp": away(time.Second), "sequence": 4} {
		w.beats(id, harness.With(first, path, v)).Refused(t, "sequence_conflict", "5")
	}
	for _, skew := range []time.Duration{-121 * time.Second, 10 * time.Minute, -time.Hour, 24 * time.Hour} {
		off := harness.With(first, "timestamp", away(skew))
		w.beats(id, off).Refused(t, "sequence_conflict") // before the clock
		w.beats(id, harness.With(off, "sequence", 0)).Refused(t, "sequence_conflict")
		w.beats(id, harness.With(off, "sequence", 6)).Refused(t, "invalid_request", "timestamp", "2m0s")
		w.beats(id, harness.With(off, "instanceId", "never heard")).Refused(t, "invalid_request", "timestamp")
	}
	w.agent(t, id).Is(t, "liveness", "ONLINE").Is(t, "instanceCount", 1).Is(t, "instances.0.sequence", 5)
	w.beats(id, harness.With(beat("i", 6, "BUSY"), "timestamp", away(-30*time.Second))).OK(t).Is(t, "duplicate", false) // the sequence of the refused heartbeat was not used
	w.beats(id, harness.With(beat("i", 100, "IDLE"), "timestamp", away(110*time.Second))).OK(t)                         // a sequence may skip numbers
	w.beats(id, first).Refused(t, "sequence_conflict", "100")                                                           // a duplicate, but not of the last
}

func TestADuplicateIsAcknowledgedHoweverOldItsTimestampHasBecome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	old, received := w.aging(t, id)
	n := 0
	harness.Until(t, "the timestamp to be out of the window", func() bool {
		n++
		return w.beats(id, harness.With(harness.With(old, "instanceId", "other"), "sequence", n)).Status == 400
	})
	w.beats(id, old).OK(t).Is(t, "duplicate", true).Is(t, "receivedAt", received)
	w.beats(id, harness.With(old, "state", "BUSY")).Refused(t, "sequence_conflict")
}

// aging is a heartbeat that was acknowledged shortly before its timestamp leaves the window, as shortly as the machine's speed allows.
func (w *world) aging(t *testing.T, id string) (old doc, received any) {
	t.Helper()
	for _, age := range []time.Duration{118, 115, 100, 60} {
		old = harness.With(beat("i", 1, "IDLE"), "timestamp", away(-age*time.Second))
		if ack := w.beats(id, old); ack.Status == 200 {
			return old, ack.At("receivedAt")
		}
	}
	t.Fatal("no heartbeat arrived within a minute")
	return nil, nil
}

func TestAHeartbeatHasFourFieldsOfTheirKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("a", "note", ""))[0]
	good := beat("i", 1, "IDLE")
	for field, values := range map[string][]any{
		"instanceId": {nil, "", 1, "line\nfeed", strings.Repeat("x", 257)},
		"sequence":   {nil, -1, number("1.5"), "1", number("9223372036854775808"), true},
		"state":      {nil, "", "online", "idle", "STALE", "UNKNOWN", 1},
		"timestamp":  {nil, "", "now", 1, "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z"},
		"liveness":   {"ONLINE"},
	} {
		for _, v := range values {
			w.beats(id, harness.With(good, field, v)).Refused(t, "invalid_request", field)
		}
		if field != "liveness" {
			w.beats(id, harness.Without(good, field)).Refused(t, "invalid_request", field)
		}
	}
	w.agent(t, id).Is(t, "liveness", "UNKNOWN").Is(t, "instances", []any{})
}

func TestAnAgentIsAsItsWorstInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.sync(t, agentItem("a", "note", ""), agentItem("b", "note", ""))
	for _, c := range []struct {
		instance string
		sequence int // each instance has its own
		state    string
		liveness string
	}{
		{"one", 100, "IDLE", "ONLINE"}, {"two", 1, "BUSY", "BUSY"}, {"three", 50, "ERROR", "ERROR"}, {"one", 101, "BUSY", "ERROR"}, {"two", 2, "IDLE", "ERROR"},
		{"three", 51, "IDLE", "BUSY"}, {"one", 102, "IDLE", "ONLINE"}, {"three", 52, "ERROR", "ERROR"}, {"three", 53, "BUSY", "BUSY"},
	} {
		w.beats(ids[0], beat(c.instance, c.sequence, c.state)).OK(t).Is(t, "liveness", c.liveness)
		w.agent(t, ids[0]).Is(t, "liveness", c.liveness)
	}
	w.agent(t, ids[1]).Is(t, "liveness", "UNKNOWN")
	w.beats(ids[1], beat("one", 1, "IDLE")).OK(t).Is(t, "liveness", "ONLINE") // instance ids are separate for each agent
	w.viewer.Get("/agents?limit=1").OK(t).Has(t, "items.0", `"lastHeartbeatAt"`)
}

func TestHeartbeatsAndTheirRefusalsAreCountedAndNotAudited(t *testing.T) {
	t.Parallel()
	w, _, two := neighboursIn(t, ownWorld(t))
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	acme, _ := w.token(t, doc{"roles": []string{"OPERATOR", "ADMIN"}, "tenantId": "acme"})
	id := w.sync(t, agentItem("a", "note", ""))[0]
	n := w.recorded(t)
	b := beat("i", 1, "IDLE")
	w.beats(id, b).OK(t)
	w.beats(id, b).OK(t)
	w.beats(id, beat("i", 2, "BUSY")).OK(t)
	w.beats(id, b).Refused(t, "sequence_conflict")
	w.beats(id, harness.With(beat("i", 3, "IDLE"), "timestamp", away(time.Hour))).Refused(t, "invalid_request")
	w.beats("agent-none", b).Refused(t, "not_found")
	two.Post("/agents/"+id+"/heartbeat", b).Refused(t, "project_scope")
	for _, who := range []*harness.Client{w.viewer, w.approver, w.tenantAdmin} {
		who.Post("/agents/"+id+"/heartbeat", b).Refused(t, "role_required", "OPERATOR")
	}
	w.tenantAdmin.Figures(t).Is(t, "countersign_heartbeats_total", doc{"accepted": 2, "duplicate": 1, "refused": 7})
	acme.Post("/agents/"+id+"/heartbeat", b).Refused(t, "not_found")
	acme.Figures(t).Is(t, "countersign_heartbeats_total", doc{"accepted": 0, "duplicate": 0, "refused": 1})
	if now := w.recorded(t); now != n {
		t.Errorf("%d records were made", now-n)
	}
	w.agent(t, id).Is(t, "instances.0.sequence", 2).Is(t, "instanceCount", 1)
}

func TestLivenessIsShownAndNeverAGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("a", "note", "refund"))[0]
	for i, state := range []string{"", "ERROR", "BUSY"} {
		if state != "" {
			w.beats(id, beat("i", i, state)).OK(t)
		}
		run := w.operator.Post("/agents/"+id+"/runs", agentRun("LIVE", "note", nil), key()).OK(t)
		w.reaches(t, run.At("id").Text(), "COMPLETED")
	}
	w.operator.Get("/plans/"+w.viewer.Get("/plans").OK(t).At("items.0.id").Text()+"/drift").OK(t).Is(t, "current", true) // heartbeats raise no revision
}
