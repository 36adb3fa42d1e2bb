package repeat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/rules/verdict"
)

var start = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// ended is a LIVE run of a side effect that ended an hour after its start.
func ended(status countersign.RunStatus, code countersign.Code, step countersign.StepRun) *countersign.Run {
	step.SideEffect = true
	r := &countersign.Run{Status: status, Mode: countersign.ModeLive, CreatedAt: start, CompletedAt: start.Add(time.Hour), MayHaveHappened: step.MayHaveHappened}
	if code != "" {
		r.Error = string(code) + ": because"
		step.Error = &countersign.StepError{Code: code}
	}
	r.Steps = []countersign.StepRun{step}
	return r
}

func finds(r *countersign.Run, now time.Time) bool {
	return repeat.Earlier{Run: r, Effects: r.Effects(), SideEffect: true}.Finds(now)
}

// TestARunThatGoesOnIsFoundWhateverItsAge, whatever it does.
func TestARunThatGoesOnIsFoundWhateverItsAge(t *testing.T) {
	for _, status := range countersign.RunStatuses {
		for _, acts := range []bool{true, false} {
			r := &countersign.Run{Status: status, Mode: countersign.ModeLive, CreatedAt: start, Steps: []countersign.StepRun{{SideEffect: acts}}}
			if got := finds(r, start.AddDate(1, 0, 0)); got == status.IsTerminal() {
				t.Errorf("%s, a side effect %v, a year later: found %v", status, acts, got)
			}
		}
	}
}

// TestAReadIsNeverAnsweredFromARunThatHasEnded, archived or not.
func TestAReadIsNeverAnsweredFromARunThatHasEnded(t *testing.T) {
	for _, status := range []countersign.RunStatus{countersign.RunCompleted, countersign.RunFailed, countersign.RunCancelled} {
		r := ended(status, "", countersign.StepRun{})
		r.Steps[0].SideEffect = false
		if finds(r, r.CompletedAt) {
			t.Errorf("%s is found", status)
		}
		r.Steps = nil
		if (repeat.Earlier{Run: r, Effects: countersign.EffectsNone}).Finds(r.CompletedAt) {
			t.Errorf("%s is found in the archive", status)
		}
	}
}

// TestASideEffectIsFoundForADayAfterItsEnd.
func TestASideEffectIsFoundForADayAfterItsEnd(t *testing.T) {
	r := ended(countersign.RunCompleted, "", countersign.StepRun{Status: countersign.StepCompleted, Attempt: 1})
	end := r.CompletedAt
	for at, want := range map[time.Time]bool{end: true, end.Add(24*time.Hour - time.Nanosecond): true, end.Add(24 * time.Hour): false} {
		if got := finds(r, at); got != want {
			t.Errorf("%s after its end: %v", at.Sub(end), got)
		}
	}
	rehearsed := ended(countersign.RunCompleted, "", countersign.StepRun{Status: countersign.StepSimulated})
	rehearsed.Mode = countersign.ModeDryRun
	if !finds(rehearsed, end.Add(23*time.Hour)) || finds(rehearsed, end.Add(24*time.Hour)) {
		t.Error("a rehearsal isn't found for its day")
	}
}

// TestWhatWasNeverSentIsAskedAnew, unless somebody has said no.
func TestWhatWasNeverSentIsAskedAnew(t *testing.T) {
	failed, cancelled := countersign.RunFailed, countersign.RunCancelled
	step := func(status countersign.StepStatus, attempt int, may bool) countersign.StepRun {
		return countersign.StepRun{Status: status, Attempt: attempt, MayHaveHappened: may}
	}
	none, once, may := step(countersign.StepFailed, 0, false), step(countersign.StepFailed, 1, false), step(countersign.StepFailed, 2, true)
	for _, c := range []struct {
		status countersign.RunStatus
		code   countersign.Code
		step   countersign.StepRun
		want   bool
	}{
		{failed, countersign.CodeNotSent, once, false},
		{failed, countersign.CodeNotSent, none, false},
		{failed, countersign.CodeNotSent, may, true},
		{failed, countersign.CodeApprovalExpired, none, false},
		{failed, countersign.CodeApprovalExpired, may, true},
		{failed, countersign.CodeDrift, none, false},
		{failed, countersign.CodeProjectDisabled, none, false},
		{failed, countersign.CodeSetAside, none, false},
		{failed, "precondition_failed", none, false},
		{failed, "precondition_unknown", none, false},
		{failed, "withdrawn", once, false},
		{failed, "withdrawn", may, true},
		{failed, "not_executed", may, true},
		{failed, countersign.CodeApprovalRejected, none, true},
		{failed, countersign.CodeDeniedByRule, none, true},
		{failed, countersign.CodeDeniedByBudget, none, true},
		{failed, countersign.CodeReceiverRefused, once, true},
		{failed, countersign.CodeExpectationNotMet, step(countersign.StepFailed, 1, true), true},
		{cancelled, countersign.CodeCancelled, step(countersign.StepCancelled, 0, false), false},
		{cancelled, countersign.CodeCancelled, step(countersign.StepCancelled, 1, true), true},
		{cancelled, countersign.CodeCancelled, step(countersign.StepCompleted, 1, false), true},
		{cancelled, countersign.CodeAbandoned, step(countersign.StepAbandoned, 1, false), true},
	} {
		r := ended(c.status, c.code, c.step)
		if got := finds(r, r.CompletedAt); got != c.want {
			t.Errorf("%s %s, attempt %d, may have happened %v: found %v", c.status, c.code, c.step.Attempt, c.step.MayHaveHappened, got)
		}
		effects := r.Effects()
		r.Steps = nil
		if got := (repeat.Earlier{Run: r, Effects: effects, SideEffect: true}).Finds(r.CompletedAt); got != c.want {
			t.Errorf("archived: %s %s, attempt %d, may have happened %v: found %v", c.status, c.code, c.step.Attempt, c.step.MayHaveHappened, got)
		}
	}
	restored := ended(failed, countersign.CodeApprovalExpired, none)
	restored.RestoredAt = start
	if !finds(restored, restored.CompletedAt) {
		t.Error("a run that the store before may have sent is asked anew")
	}
}

// TestATaskIsComparedWithoutItsSpaces.
func TestATaskIsComparedWithoutItsSpaces(t *testing.T) {
	for _, text := range []string{"case 1077", " case 1077", "case 1077 ", "case\t \n1077", "case\u00a01077"} {
		if got := repeat.Task(text); got != "case 1077" {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func TestCallsAreAlikeByCapabilityAndInputsOrTitle(t *testing.T) {
	digests := func(project, capability, title string, amount string) []string {
		out, err := repeat.Digests(project, capability, map[string]countersign.Value{"amount": countersign.RawValue(amount)}, title)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	one := digests("shop", "refund", "Refund A-1", "5")
	if len(one) != 2 || one[0] == one[1] || len(digests("shop", "refund", "", "5")) != 1 {
		t.Fatalf("%q", one)
	}
	shared := func(other []string) (n int) {
		for _, d := range other {
			if strings.Contains(strings.Join(one, " "), d) {
				n++
			}
		}
		return n
	}
	for name, c := range map[string]struct{ got, want int }{
		"the same, its number spelt otherwise": {shared(digests("shop", "refund", "Refund A-1", "5.0")), 2},
		"other inputs":                         {shared(digests("shop", "refund", "Refund A-1", "6")), 1},
		"another title":                        {shared(digests("shop", "refund", "Refund A-2", "5")), 1},
		"another capability":                   {shared(digests("shop", "pay", "Refund A-1", "5")), 0},
		"another project":                      {shared(digests("store", "refund", "Refund A-1", "5")), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d of its digests are the same", name, c.got)
		}
	}
}

func TestWhileACallIsOpenAPersonIsAskedAndAgainIsRefused(t *testing.T) {
	nothing, open := repeat.Alike{}, repeat.Alike{Open: []string{"run-1", "run-2"}}
	if v := nothing.Verdict(); v.Then != verdict.Allow || nothing.Refusal("once more") != nil {
		t.Errorf("with nothing open: %+v", v)
	}
	v := open.Verdict()
	if v.Then != verdict.Ask || len(v.Reasons) != 1 || v.Reasons[0] != "the same call is open: nobody knows whether runs run-1, run-2 took effect, and this one could do it twice" {
		t.Errorf("%+v", v)
	}
	if open.Refusal("") != nil {
		t.Error("a call that doesn't ask to do it again is refused")
	}
	const want = "state_conflict: again: run run-1 of the same call is open, and nobody knows whether it took effect; a person finds out, and until then it can't be made again. Make the same call without again, which finds its run"
	if err := open.Refusal("once more"); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestAfterTheSecondRejectionNobodyIsAskedAgain(t *testing.T) {
	first := repeat.Rejection{ApprovalID: "apr-1", RunID: "run-1", At: start}
	second := repeat.Rejection{ApprovalID: "apr-2", RunID: "run-2", At: start.Add(time.Hour)}
	within := func(at time.Time, all ...repeat.Rejection) repeat.Alike {
		return repeat.Alike{Rejected: repeat.Within(all, at)}
	}
	one := within(second.At, second, second)
	if one.Refusal("") != nil || one.AskedAgainAfter() != "apr-2" {
		t.Errorf("after one rejection: %v, %s", one.Refusal(""), one.AskedAgainAfter())
	}
	two := within(second.At, second, first)
	const want = "state_conflict: this call was rejected 2 times within 24 hours, last in run run-2; nobody is asked again before 2026-11-03T09:00:00Z. Don't ask for it in other words: tell whom you work for"
	if err := two.Refusal(""); err == nil || err.Error() != want || two.AskedAgainAfter() != "apr-2" {
		t.Errorf("after two: %v, %s", err, two.AskedAgainAfter())
	}
	if later := within(start.Add(24*time.Hour), first, second); later.Refusal("") != nil || later.AskedAgainAfter() != "apr-2" {
		t.Errorf("when the first is a day old: %v", later.Refusal(""))
	}
	if none := within(second.At.Add(24*time.Hour), first, second); none.AskedAgainAfter() != "" {
		t.Errorf("a day later it is marked with %s", none.AskedAgainAfter())
	}
}

func TestARecordNamesTenOpenRunsOnce(t *testing.T) {
	named := []string{"a"}
	for _, id := range strings.Split("abcdefghijklmnop", "") {
		named = repeat.Named(named, []string{id})
	}
	if got := strings.Join(named, ""); got != "abcdefghij" {
		t.Errorf("%s", got)
	}
}

func TestTheKeyOfACallIsNoneOfTheAPI(t *testing.T) {
	key, err := repeat.Key("agent-1", "refund", "LIVE", nil, "t")
	if err != nil || !repeat.IsCall(key) || !strings.Contains(key, " ") || repeat.IsCall("k") {
		t.Errorf("%q %v", key, err)
	}
}
