package desk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// TestARowSaysWhatOneMustKnowBeforeItIsOpened, the gravest first.
func TestARowSaysWhatOneMustKnowBeforeItIsOpened(t *testing.T) {
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		alter func(in *control.InboxRow)
		want  string
	}{
		{func(*control.InboxRow) {}, ""},
		{func(in *control.InboxRow) { in.Same = 2 }, "red Same request, 2 more waiting"},
		{func(in *control.InboxRow) { in.Same = 1 }, "red Same request, 1 more waits"},
		{func(in *control.InboxRow) { in.Request.Method = "DELETE" }, "red DELETE"},
		{func(in *control.InboxRow) { in.OpenAlike = []string{"run-1"} }, "unc the same call is open"},
		{func(in *control.InboxRow) { in.RestoredAt = now }, "unc may have been sent"},
		{func(in *control.InboxRow) { in.AskedAgain = 1 }, "amb Asked again: the state changed; idle 2 of at most 3"},
		{func(in *control.InboxRow) { in.AskedAgainAfter = "apr-1" }, "amb rejected before"},
		{func(in *control.InboxRow) { in.BehindUnknown = true }, "amb for somebody unknown"},
		{func(in *control.InboxRow) { in.Groups = []string{"finance"} }, "idle for finance"},
		{func(in *control.InboxRow) { in.ApprovalsNeeded, in.Given, in.Open = 2, 1, []string{"board"} }, "amb 1 of 2, board is missing"},
		{func(in *control.InboxRow) { in.ApprovalsNeeded, in.Open = 3, []string{"board", "finance"} }, "amb 0 of 3, board and finance are missing"},
		{func(in *control.InboxRow) { in.ExpiresAt = now.Add(20 * time.Minute) }, "amb expires in 20 min"},
		{func(in *control.InboxRow) { in.Size = 146 << 10 }, "idle 146 KiB to read"},
	} {
		in := control.InboxRow{Approval: countersign.Approval{ExpiresAt: now.Add(5 * time.Hour)}}
		c.alter(&in)
		var got []string
		for _, m := range approvalMarks(&in, now) {
			got = append(got, m.Class+" "+m.Word)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%v, not %q", got, c.want)
		}
	}
}

// TestARecoverysRowSaysWhoseWordThereIs.
func TestARecoverysRowSaysWhoseWordThereIs(t *testing.T) {
	amount := func(n string) map[string]countersign.Value {
		return map[string]countersign.Value{"amount": countersign.RawValue(n)}
	}
	for _, c := range []struct {
		step countersign.StepRun
		want string
	}{
		{countersign.StepRun{}, ""},
		{countersign.StepRun{Input: amount("53.5"), Probes: []countersign.ProbeRecord{{Output: countersign.RawValue(`{"amount":249}`)}}}, "1 field differs; probed once"},
		{countersign.StepRun{Input: amount("53.5"), Late: &countersign.LateAnswer{Output: countersign.RawValue(`{"amount":53.5}`)}}, "a late answer"},
		{countersign.StepRun{Settlements: []countersign.SettlementRecord{{State: countersign.KeyDone, Valid: true}}}, "API: done"},
		{countersign.StepRun{Settlements: []countersign.SettlementRecord{{State: countersign.KeyWithdrawn, Valid: true}}}, "API: never done, key withdrawn"},
		{countersign.StepRun{Settlements: []countersign.SettlementRecord{{State: countersign.KeyUnseen, Valid: true}}}, "API: never seen so far"},
		{countersign.StepRun{Settlements: []countersign.SettlementRecord{{State: countersign.KeyInProgress, Valid: true}}}, "API: still runs"},
		{countersign.StepRun{Settlements: []countersign.SettlementRecord{{State: countersign.KeyUnknown, Valid: true}}}, "API: doesn’t know"},
		{countersign.StepRun{Settlements: []countersign.SettlementRecord{{State: countersign.KeyDone}}}, "not the API’s word"},
	} {
		r := countersign.Run{WaitingFor: &countersign.WaitingFor{}}
		var got []string
		for _, m := range recoveryMarks(&r, &c.step, "") {
			got = append(got, m.Word)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%v, not %q", got, c.want)
		}
	}
}

func TestARowSaysWhyItsReaderDoesNotDecideIt(t *testing.T) {
	for want, err := range map[string]error{
		"you asked for it": countersign.Errorf(countersign.CodeSelfApproval, ""), "you have decided": countersign.Errorf(countersign.CodeStateConflict, ""),
		"somebody else decides": errors.New("other"),
	} {
		if got := barredWords(err); got != want {
			t.Errorf("%v: %s", err, got)
		}
	}
}
