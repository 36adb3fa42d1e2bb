package recovery

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The API's signed word: what it said became of the step's key, and the buttons that go by it.

// statement is one thing that the API said.
type statement struct {
	countersign.SettlementRecord
	Asked string // the question, as it was sent
	Raw   string // the answer's own bytes; "" where they aren't shown
}

// statementsShown bounds the page; the API shows all.
const statementsShown = 20

// statementsOf are what the API said, newest first.
func statementsOf(s *countersign.StepRun) (out []statement) {
	for i := len(s.Settlements) - 1; i >= 0 && len(out) < statementsShown; i-- {
		r := s.Settlements[i]
		one := statement{SettlementRecord: r, Asked: "GET " + r.Target}
		if raw, err := base64.StdEncoding.DecodeString(bodyOf(&r)); err == nil && len(raw) <= text.Longest {
			one.Raw = string(raw)
		}
		if r.Withdrawing {
			one.Asked = "POST " + r.Target
		}
		out = append(out, one)
	}
	return out
}

func bodyOf(r *countersign.SettlementRecord) string {
	if r.Signed == nil {
		return ""
	}
	return r.Signed.BodyBase64
}

// settles reports a step whose API says itself what became of it.
func settles(p *countersign.Plan, s *countersign.StepRun) bool {
	return slices.ContainsFunc(p.ProjectSnapshots, func(of countersign.Project) bool { return of.ID == s.ProjectID && of.Settlement != nil })
}

// Says is the statement in words.
func (s statement) Says() string {
	switch {
	case !s.Valid:
		return "This is not the API’s word, and decides nothing"
	case s.Said != "":
		return "It doesn’t know: it says that it never saw this key, and its memory may have forgotten it"
	}
	switch s.State {
	case countersign.KeyDone:
		return "Yes, says the API, and signs it: done, answered with " + strconv.FormatInt(s.StatusCode, 10)
	case countersign.KeyWithdrawn:
		return "No, says the API, and signs it: never seen, and the key is withdrawn. Should the request still arrive, it is refused and does nothing"
	case countersign.KeyUnseen:
		return "Not so far, says the API, and signs it: this key was never seen. It may still arrive, unless the key is withdrawn"
	case countersign.KeyInProgress:
		return "The API says, signed, that the call still runs"
	}
	return "The API says, signed, that it doesn’t know: the call was begun, and no answer was kept"
}

// settling is what can be done by the newest statement.
type settling struct {
	N                         int64
	Action, Word, Consequence string
}

// Settling is nil where the API's word decides nothing.
func (d *Data) Settling() *settling {
	if !d.Open || d.Early || len(d.Step.Settlements) == 0 {
		return nil
	}
	last := statement{SettlementRecord: d.Step.Settlements[len(d.Step.Settlements)-1]}
	switch {
	case last.Decides() && last.State == countersign.KeyDone:
		return &settling{last.N, countersign.SettleConfirm, "As the API says", "The step ends by the answer that the API kept, judged as if it had come: expectation and all."}
	case last.Decides():
		return &settling{last.N, countersign.SettleConfirm, "As the API says", "The step fails: withdrawn. Nothing happened, and nothing will; who wants it done starts a new run."}
	case last.Valid && last.State == countersign.KeyUnseen:
		return &settling{last.N, countersign.SettleWithdraw, "Have the key withdrawn", "The API is asked to refuse this key for ever. If it does, the step fails: withdrawn. Nothing happened, and nothing will."}
	}
	return nil
}

// NextQuestion is when the API is asked next, "" for not by itself.
func (d *Data) NextQuestion() string {
	if !d.Open || d.Step.NextAt.IsZero() {
		return ""
	}
	return d.Step.NextAt.UTC().Format("15:04:05")
}

// settleStep ends the step by the API's word, or has the key withdrawn.
func settleStep(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.SettleRun, "run/"+id); err != nil {
		return "", resolveAgain(v, id, err, nil)
	}
	if v.Form("reason") == "" {
		return "", resolveAgain(v, id, errIncomplete, map[string]string{"reason": "Say why. It is kept in the audit log with your name."})
	}
	n, err := strconv.ParseInt(v.Form("n"), 10, 64)
	if err != nil {
		n = 0 // no statement has it
	}
	r, err := v.Control.SettleRun(v.R.Context(), v.Actor, id, countersign.Settle{StepID: v.Form("stepId"), N: n, Action: v.Form("action"), Reason: v.Form("reason")})
	if err != nil {
		return "", resolveAgain(v, id, err, nil)
	}
	if r.Status == countersign.RunRecoveryRequired {
		return "/recovery/" + id + "#word", nil
	}
	return desk.Onward(v, desk.Recovery, id, "/runs/"+id), nil
}
