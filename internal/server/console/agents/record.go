package agents

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// What an agent did: what became of each of its effects, and when its runs waited for whom.

// Bounds of a record: runs that are looked at, effects that are drawn, effects from which on a
// share is said, rows of runs, and how long before now these began.
const (
	recordRuns    = 100
	recordEffects = 64
	sharedFrom    = 20
	recordRows    = 12
	recordHours   = 6
)

// record is what became of an agent's last effects.
type record struct {
	Effects                                         []effect // oldest first
	Verified, Answered, Rejected, Failed, Uncertain int
	Waiting                                         int
	Share                                           string // of the verified ones, "" where there are too few
	Axis                                            drawn.Axis
	Ticks                                           []tick
	Runs                                            []laneOfRun
	Of                                              int // runs in that time
	Any                                             bool
	Lately                                          bool // the axis is the last hours
	StandsStill                                     *standing
}

// effect is a step that changed something, or would have.
type effect struct {
	Class, Word, Href string
	At                time.Time
}

// tick is a moment on the axis.
type tick struct {
	X   string
	At  time.Time
	Day bool
}

// laneOfRun is a run on the axis.
type laneOfRun struct {
	Title, Sub, Href string
	Bars             []drawn.Stretch
	State            text.State
	End              string
}

// standing is what stands still because of the agent: an unknown outcome before a decision.
type standing struct {
	Class, Icon, Sentence, Detail, Href, Word string
}

// fates are the kinds of effects, as the record counts them.
var fates = map[string]string{
	"c-ok": "verified", "c-un": "answered, nothing to verify", "c-rej": "rejected by a person", "c-no": "not as expected", "c-unc": "outcome unknown",
}

// fateOf is what became of a step that changes something, "" where it hasn't ended and where it
// was never sent but by a person's word.
func fateOf(s *countersign.StepRun) string {
	switch s.Status {
	case countersign.StepCompleted:
		if text.Proven(s) {
			return "c-ok"
		}
		return "c-un"
	case countersign.StepRecoveryRequired, countersign.StepAbandoned:
		return "c-unc"
	case countersign.StepFailed:
		switch {
		case s.Error != nil && s.Error.Code == countersign.CodeApprovalRejected:
			return "c-rej"
		case s.Attempt > 0:
			return "c-no"
		}
	}
	return ""
}

// recordOf reads the newest LIVE runs of an agent. Those of teams that it is in stand on the
// teams' pages.
func recordOf(v *web.Request, id string) (r record, err error) {
	found, err := v.Control.Runs(v.R.Context(), v.Actor, control.List{Limit: recordRuns}, control.RunFilter{AgentID: id})
	if err != nil {
		return r, err
	}
	live := slices.DeleteFunc(found.Items, func(run countersign.Run) bool { return run.Mode != countersign.ModeLive })
	r.Any = len(live) > 0
	for i := range live {
		r.count(&live[i])
	}
	slices.Reverse(r.Effects)
	if n := r.Verified + r.Answered + r.Rejected + r.Failed + r.Uncertain; n >= sharedFrom {
		r.Share = strconv.Itoa(100*r.Verified/n) + " %"
	}
	shown := r.chosen(live, v.Now)
	names, err := v.Control.PlanNames(v.R.Context(), v.Actor, shown)
	for i := range shown {
		r.Runs = append(r.Runs, r.lane(&shown[i], names[shown[i].PlanID], v.Now))
	}
	return r, err
}

// count adds the effects of a run, newest first.
func (r *record) count(run *countersign.Run) {
	for i := range run.Steps {
		s := &run.Steps[len(run.Steps)-1-i]
		class := fateOf(s)
		if !s.SideEffect || class == "" {
			continue
		}
		*map[string]*int{"c-ok": &r.Verified, "c-un": &r.Answered, "c-rej": &r.Rejected, "c-no": &r.Failed, "c-unc": &r.Uncertain}[class]++
		if len(r.Effects) < recordEffects {
			r.Effects = append(r.Effects, effect{class, fates[class], web.Prefix + "/runs/" + run.ID + "?step=" + url.QueryEscape(s.ID) + "#step", cmp.Or(s.CompletedAt, s.StartedAt, run.UpdatedAt)})
		}
	}
	if run.Status == countersign.RunWaitingApproval {
		r.Waiting++
	}
	r.stands(run)
}

// stands keeps what stands still because of the agent: what nobody knows before what somebody
// decides, and the oldest of it.
func (r *record) stands(run *countersign.Run) {
	w := run.WaitingFor
	switch {
	case w == nil:
	case w.Kind == countersign.WaitReconcile:
		r.StandsStill = &standing{"call--unc", "s-recovery", "One effect of it is uncertain.", "Nothing is sent there until somebody records what happened.", web.Prefix + "/recovery/" + run.ID, "Recover"}
	case w.Kind == countersign.WaitApproval && (r.StandsStill == nil || r.StandsStill.Class == "call--wait"):
		r.StandsStill = &standing{"call--wait", "s-waiting", "It waits for a person’s decision.", "Nothing is sent there until somebody decides.", web.Prefix + "/approvals/" + w.ApprovalID, "Review"}
	}
}

// chosen are the runs that are drawn, and the axis: those of the last hours, else the newest.
func (r *record) chosen(live []countersign.Run, now time.Time) []countersign.Run {
	r.Axis = drawn.Axis{From: now.Add(-recordHours * time.Hour), To: now}
	lately := slices.DeleteFunc(slices.Clone(live), func(run countersign.Run) bool {
		return !run.CompletedAt.IsZero() && run.CompletedAt.Before(r.Axis.From)
	})
	r.Lately = len(lately) > 0
	if r.Of = len(lately); !r.Lately {
		lately, r.Of = live, len(live)
	}
	lately = lately[:min(len(lately), recordRows)]
	every := time.Hour
	if !r.Lately && len(lately) > 0 {
		r.Axis.From = lately[len(lately)-1].CreatedAt
		every = (now.Sub(r.Axis.From)/(6*24*time.Hour) + 1) * 24 * time.Hour
	}
	for t := r.Axis.From.Truncate(every).Add(every); t.Before(now.Add(-now.Sub(r.Axis.From) / 20)); t = t.Add(every) { // the last part is now
		r.Ticks = append(r.Ticks, tick{r.Axis.At(t), t, !r.Lately})
	}
	return lately
}

// lane is a run on the axis.
func (r *record) lane(run *countersign.Run, plan string, now time.Time) laneOfRun {
	l := laneOfRun{Title: cmp.Or(plan, run.ID), Sub: asks(run), Href: web.Prefix + "/runs/" + run.ID, State: text.RunState(*run)}
	for i := range run.Steps {
		l.Bars = append(l.Bars, r.Axis.InTime(run, &run.Steps[i])...)
	}
	until := cmp.Or(run.CompletedAt, now)
	l.End = text.Span(until.Sub(run.CreatedAt))
	if w := run.WaitingFor; w != nil {
		l.End = "for " + text.Span(now.Sub(w.Since))
	}
	return l
}

// asks is for whom a run was asked for.
func asks(run *countersign.Run) string {
	if run.OnBehalfOf != nil {
		return "for " + cmp.Or(run.OnBehalfOf.Email, run.OnBehalfOf.Subject)
	}
	return "asked by " + cmp.Or(run.RequestedByName, text.Who(run.RequestedBy))
}
