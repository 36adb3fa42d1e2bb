package receipt

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

var forgeries = flag.String("forgeries", "", "also keep the forged receipts in this directory")

// gated is the first drawn run in which each of these holds: some step was sent, by so
// many approvals of which none expired, in so many attempts.
func gatedRun(t *testing.T, attempts int) Facts {
	t.Helper()
	for seed := range uint64(5000) {
		f := draw(t, seed)
		fits := func(s countersign.StepRun) bool {
			return s.ApprovalRequired && s.Attempt == attempts && s.Capability == "refund" && s.Verification != nil && len(s.Verification.Checks) == 0
		}
		if i := slices.IndexFunc(f.Run.Steps, fits); i >= 0 && !f.Masked && f.Run.Mode == countersign.ModeLive && len(f.Approvals) == attempts && len(f.Run.Steps) == 1 && !slices.ContainsFunc(f.Approvals, func(a countersign.Approval) bool { return a.ApprovalsNeeded > 0 }) {
			f.Run.Steps[i].ApprovalID = "" // so that each forgery is found by what it contradicts besides
			return f
		}
	}
	t.Fatal("no such run was drawn")
	return Facts{}
}

// without takes the records of an action out of a receipt; each of the others is
// proven as before.
func without(f *Facts, action string) {
	f.Log.Records = slices.DeleteFunc(f.Log.Records, func(r Record) bool { return strings.Contains(r.Text, `"action":"`+action+`"`) })
}

// withoutLast takes the last record of an action out of the log.
func withoutLast(f *Facts, action string) {
	for i, r := range slices.Backward(f.Log.Records) {
		if strings.Contains(r.Text, `"action":"`+action+`"`) {
			f.Log.Records = slices.Delete(f.Log.Records, i, i+1)
			return
		}
	}
}

// TestASignerCannotDoWithoutTheApproval: whatever they take out or alter of it, signed
// anew by the same key.
func TestASignerCannotDoWithoutTheApproval(t *testing.T) {
	forgeries := map[string]struct {
		attempts int
		section  string
		forge    func(f *Facts)
	}{
		"no approval":              {1, Approvals, func(f *Facts) { f.Approvals = nil }},
		"a mode that there is not": {1, Run, func(f *Facts) { f.Run.Mode = "LIVE."; f.Approvals = nil; without(f, "approvals.decide") }},
		"no mode": {1, Run, func(f *Facts) {
			f.Run.Mode = ""
			f.Run.PlanSnapshot.Mode = ""
			f.Approvals = nil
			without(f, "approvals.decide")
		}},
		"a rehearsal": {1, Plan, func(f *Facts) { f.Run.Mode = countersign.ModeDryRun; f.Approvals = nil; without(f, "approvals.decide") }},
		"a rehearsal of a rehearsed plan": {1, Run, func(f *Facts) {
			f.Run.Mode, f.Run.PlanSnapshot.Mode, f.Approvals = countersign.ModeDryRun, countersign.ModeDryRun, nil
			without(f, "approvals.decide")
		}},
		"a rehearsal that sent nothing": {1, Audit, func(f *Facts) {
			s := &f.Run.Steps[0]
			f.Run.Mode, f.Run.PlanSnapshot.Mode, f.Approvals = countersign.ModeDryRun, countersign.ModeDryRun, nil
			s.Attempt, s.Response, s.Status, s.Reconciliation, s.ApprovalID = 0, nil, countersign.StepSimulated, nil, ""
			f.Run.UnverifiedSteps = 0
			s.Verification.Status, s.Output = countersign.VerificationSimulated, countersign.Null
			without(f, "approvals.decide")
		}},
		"no step": {1, Run, func(f *Facts) { f.Run.Steps, f.Approvals = nil, nil; without(f, "approvals.decide") }},
		"no step in the plan either": {1, Plan, func(f *Facts) {
			f.Run.Steps, f.Run.PlanSnapshot.Steps, f.Approvals = nil, nil, nil
			without(f, "approvals.decide")
		}},
		"sent at no time": {1, Audit, func(f *Facts) { resendAt(f, "never") }},
		"another plan": {1, Plan, func(f *Facts) {
			f.Run.PlanSnapshot.Steps[0].Input = map[string]countersign.Value{"amount": countersign.RawValue("1")}
		}},
		"another request shown": {1, Requests, func(f *Facts) { f.Approvals[0].Request.URL = "https://shop.example/harmless" }},
		"another body shown":    {1, Requests, func(f *Facts) { f.Approvals[0].Request.Body = countersign.RawValue(`{"amount":1}`) }},
		"other inputs shown": {1, Approvals, func(f *Facts) {
			f.Approvals[0].InputSnapshot = map[string]countersign.Value{"amount": countersign.RawValue("1")}
		}},
		"another requester": {1, Audit, func(f *Facts) {
			f.Run.RequestedBy, f.Approvals[0].RequestedBy = "user:ceo@marlow.example", "user:ceo@marlow.example"
		}},
		"an identity that the log has not": {1, Audit, func(f *Facts) {
			f.Run.Identity = &countersign.Identity{Issuer: "https://id.example.com", Claim: "sub", Value: "m"}
			for i := range f.Approvals {
				f.Approvals[i].Identity = f.Run.Identity
			}
		}},
		"somebody whom nobody acted for": {1, Audit, func(f *Facts) {
			f.Run.OnBehalfOf = &countersign.OnBehalfOf{Issuer: "https://id.example.com", Subject: "s"}
			for i := range f.Approvals {
				f.Approvals[i].OnBehalfOf = f.Run.OnBehalfOf
			}
		}},
		"somebody in the approval alone": {1, Approvals, func(f *Facts) {
			f.Approvals[0].OnBehalfOf = &countersign.OnBehalfOf{Issuer: "https://id.example.com", Subject: "s"}
		}},
		"a shared maker denied":           {1, Approvals, func(f *Facts) { f.Approvals[0].DecidedByMakers = []string{f.Run.RequestedBy} }},
		"no approval and no record of it": {1, Approvals, func(f *Facts) { f.Approvals = nil; without(f, "approvals.decide") }},
		"said to need none": {1, Run, func(f *Facts) {
			f.Approvals, f.Run.Steps[0].ApprovalRequired = nil, false
			without(f, "approvals.decide")
		}},
		"a step of another capability": {1, Run, func(f *Facts) {
			f.Approvals, f.Run.Steps[0].ApprovalRequired, f.Run.Steps[0].Capability = nil, false, "note"
			without(f, "approvals.decide")
		}},
		"a capability that the plan has not": {1, Plan, func(f *Facts) { f.Run.PlanSnapshot.ProjectSnapshots = nil }},
		"said to be sent less often":         {2, Audit, func(f *Facts) { f.Run.Steps[0].Attempt, f.Approvals = 1, f.Approvals[:1] }},
		"said never to be sent":              {1, Run, func(f *Facts) { f.Run.Steps[0].Attempt, f.Approvals = 0, nil }},
		"never sent, and not completed": {1, Audit, func(f *Facts) {
			s := &f.Run.Steps[0]
			s.Attempt, s.Response, s.Status, s.StartedAt, s.Reconciliation, f.Approvals = 0, nil, countersign.StepCancelled, time.Time{}, nil, nil
			f.Run.Status, f.Run.UnverifiedSteps = countersign.RunCancelled, 0
		}},
		"a rejected one":                              {1, Approvals, func(f *Facts) { f.Approvals[0].Status = countersign.ApprovalRejected }},
		"one that nobody decided":                     {1, Approvals, func(f *Facts) { f.Approvals[0].DecidedBy = "" }},
		"one that the system decided":                 {1, Approvals, func(f *Facts) { f.Approvals[0].DecidedBy = countersign.SystemPrincipal }},
		"one of another step":                         {1, Approvals, func(f *Facts) { f.Approvals[0].StepID = "other" }},
		"one of another attempt":                      {1, Approvals, func(f *Facts) { f.Approvals[0].Attempt = 2 }},
		"one of another run":                          {1, Approvals, func(f *Facts) { f.Approvals[0].RunID = "run-other" }},
		"one of another digest":                       {1, Requests, func(f *Facts) { f.Approvals[0].RequestDigest = strings.Repeat("0", 64) }},
		"one of a restore that the run was not of":    {1, Approvals, func(f *Facts) { f.Run.RestoredAt, f.Approvals[0].RestoredAt = time.Time{}, morning }},
		"one of a restore after the run's":            {1, Approvals, func(f *Facts) { f.Run.RestoredAt, f.Approvals[0].RestoredAt = morning, morning.Add(1) }},
		"one by somebody else":                        {1, Audit, func(f *Facts) { f.Approvals[0].DecidedBy = "user:eve@marlow.example" }},
		"one for another reason":                      {1, Audit, func(f *Facts) { f.Approvals[0].DecisionReason += "!" }},
		"one that had expired when it was decided":    {1, Approvals, func(f *Facts) { f.Approvals[0].ExpiresAt = f.Approvals[0].DecidedAt }},
		"one that had expired when its step was sent": {1, Audit, func(f *Facts) { f.Approvals[0].ExpiresAt = f.Approvals[0].DecidedAt.Add(time.Nanosecond) }},
		"no record of its decision":                   {1, Audit, func(f *Facts) { without(f, "approvals.decide") }},
		"one approval for both sendings":              {2, Approvals, func(f *Facts) { f.Approvals = f.Approvals[:1] }},
		"one approval twice":                          {2, Approvals, func(f *Facts) { f.Approvals[1] = f.Approvals[0]; f.Approvals[1].Attempt = 2 }},
		"the other's decision": {2, Audit, func(f *Facts) {
			of := f.Approvals[0]
			of.ID, of.Attempt, of.ExpiresAt = "apr-x", 2, of.ExpiresAt.Add(time.Hour)
			f.Approvals[1] = of
		}},
		"the other's decision, and no record of its own": {2, Audit, func(f *Facts) {
			withoutLast(f, "approval.request")
			withoutLast(f, "approvals.decide")
			of := f.Approvals[0]
			of.ID, of.Attempt, of.ExpiresAt = "apr-x", 2, of.ExpiresAt.Add(time.Hour)
			f.Approvals[1] = of
		}},
		"one that was decided after the step was sent": {2, Audit, func(f *Facts) { f.Approvals[0].Attempt, f.Approvals[1].Attempt = 2, 1 }},
		"digests left out without a mask": {1, Plan, func(f *Facts) {
			f.Run.PlanDigest, f.Run.PlanSnapshot.PlanDigest = "", ""
		}},
		"a request left out without a mask": {1, Requests, func(f *Facts) {
			f.Run.Steps[0].RequestDigest, f.Approvals[0].RequestDigest = countersign.NoStepDigest, ""
		}},
		"an approval masked alone": {1, Requests, func(f *Facts) { f.Masked, f.Approvals[0].RequestDigest = true, "" }},
		"an end said to be left out": {1, Audit, func(f *Facts) {
			for _, end := range endings {
				without(f, end)
			}
			f.Log.LeftOut = 1
		}},
	}
	for name, c := range forgeries {
		t.Run(name, func(t *testing.T) {
			f := gatedRun(t, c.attempts)
			if v := Verify(built(t, f, keyOf(1)), public(keyOf(1))); !v.OK {
				t.Fatalf("before anything is forged: %+v", v)
			}
			c.forge(&f)
			file := built(t, f, keyOf(1))
			keepForgery(t, file)
			if v := Verify(file, public(keyOf(1))); v.OK || v.Section != c.section {
				t.Errorf("%q named, %q expected: %s", v.Section, c.section, v.Problem)
			}
		})
	}
}

// TestASignerCannotHideAnApprovalThatExpired: it was approved too late to send, another
// one let the step out, and only the record of its request still names it.
func TestASignerCannotHideAnApprovalThatExpired(t *testing.T) {
	f := expiredThenApproved(t)
	if v := Verify(built(t, f, keyOf(1)), public(keyOf(1))); !v.OK {
		t.Fatalf("before anything is forged: %+v", v)
	}
	hidden := f.Approvals[0]
	f.Approvals = f.Approvals[1:]
	decided := slices.IndexFunc(f.Log.Records, func(r Record) bool { return strings.Contains(r.Text, `"action":"approvals.decide"`) })
	f.Log.Records = slices.Delete(f.Log.Records, decided, decided+1)
	file := built(t, f, keyOf(1))
	keepForgery(t, file)
	want := "the log says that an approval was asked for at step " + hidden.StepID + ", which is missing"
	if v := Verify(file, public(keyOf(1))); v.OK || v.Section != Audit || v.Problem != want {
		t.Errorf("%q: %s", v.Section, v.Problem)
	}
}

// expiredThenApproved is the first drawn run of one step that was sent once, with two
// approvals of which the first one expired. One person decided each.
func expiredThenApproved(t *testing.T) Facts {
	t.Helper()
	for seed := range uint64(5000) {
		f := draw(t, seed)
		if f.Masked || len(f.Run.Steps) != 1 || len(f.Approvals) != 2 {
			continue
		}
		plain := func(a countersign.Approval) bool {
			return a.Attempt == 1 && a.Status == countersign.ApprovalApproved && a.ApprovalsNeeded == 0
		}
		if s := f.Run.Steps[0]; s.Attempt == 1 && s.ApprovalRequired && plain(f.Approvals[0]) && plain(f.Approvals[1]) {
			return f
		}
	}
	t.Fatal("no such run was drawn")
	return Facts{}
}

// keepForgery is for the verifier of another release.
func keepForgery(t *testing.T, file []byte) {
	t.Helper()
	if *forgeries == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*forgeries, filepath.Base(t.Name())+".json"), file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTheFirstLineSaysWhatMaskingLeftOut: also where a signer says that everything is
// masked.
func TestTheFirstLineSaysWhatMaskingLeftOut(t *testing.T) {
	f := gatedRun(t, 1)
	if v := Verify(built(t, f, keyOf(1)), nil); v.Summary != "valid" {
		t.Errorf("nothing was left out: %s", v.Summary)
	}
	f.Masked = true
	f.Run.PlanDigest, f.Run.PlanSnapshot.PlanDigest = "", ""
	f.Run.Steps[0].RequestDigest, f.Approvals[0].RequestDigest = countersign.NoStepDigest, ""
	f.Run.Steps[0].Reconciliation = nil
	records := len(f.Log.Records)
	f.Log.LeftOut, f.Log.Records = records, nil
	v := Verify(built(t, f, keyOf(1)), nil)
	if want := "valid for what it shows; masking left out: sensitive values, the plan's digest, 1 request, 1 decision's audit record, " + strconv.Itoa(records) + " audit records in all"; v.Summary != want {
		t.Errorf("%s %s %s, expected %s", v.Section, v.Problem, v.Summary, want)
	}
	f.Approvals = nil
	if v := Verify(built(t, f, keyOf(1)), nil); v.OK || v.Section != Approvals {
		t.Errorf("without its approval: %+v", v)
	}
}

// TestASignerNamesNoDifferenceThatIsNone: what was sent stands in the inputs, and what was found is something else.
func TestASignerNamesNoDifferenceThatIsNone(t *testing.T) {
	seen := 0
	for seed := range uint64(400) {
		f := draw(t, seed)
		for i := range f.Run.Steps {
			r := f.Run.Steps[i].Reconciliation
			if f.Masked || r == nil || len(r.Differs) == 0 {
				continue
			}
			seen++
			for name, forge := range map[string]func(d *countersign.Discrepancy){
				"nothing else was found":  func(d *countersign.Discrepancy) { d.Found = d.Sent },
				"something else was sent": func(d *countersign.Discrepancy) { d.Sent = countersign.String("another that was not sent") },
			} {
				t.Run(name, func(t *testing.T) {
					was := r.Differs[0]
					defer func() { r.Differs[0] = was }()
					forge(&r.Differs[0])
					file := built(t, f, keyOf(1))
					keepForgery(t, file)
					if v := Verify(file, nil); v.OK || v.Section != Run {
						t.Errorf("seed %d: %q named, %q expected: %s", seed, v.Section, Run, v.Problem)
					}
				})
			}
		}
	}
	if seen == 0 {
		t.Error("nothing differs in any run")
	}
}
