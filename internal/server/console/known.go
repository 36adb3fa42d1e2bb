package console

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// What is known of an uncertain step, in the order of time: who let the request
// out, that it was sent, what came back, and what people found since.

// knownFact is one thing that is known. Its title is a sentence; Got is an answer
// that is shown with it.
type knownFact struct {
	At    time.Time
	Class string // of its icon's colour
	Icon  string
	Title string
	Said  string // by whom, or why
	Quote string // what somebody wrote
	Code  countersign.Code
	Sent  *sent  // what was asked, for a probe
	Key   string // that it was sent under
	Left  bool   // the request left this machine for certain
	Got   *got
	Use   string // "late" or "probe-n": prefills the output with this answer
}

// Bounds of what is told: approvals and probes, and probes with their answers.
const (
	knownShown   = 20
	answersShown = 3
)

// knownOf lists what is known of a step. approvals are those of the run.
func knownOf(r *countersign.Run, s *countersign.StepRun, approvals []countersign.Approval) []knownFact {
	out := knownDecisions(s, approvals)
	if !s.StartedAt.IsZero() {
		out = append(out, knownSending(s))
	}
	if s.Error != nil && s.Status == countersign.StepRecoveryRequired && r.WaitingFor != nil {
		out = append(out, knownUnknown(r, s))
	}
	if s.Late != nil {
		out = append(out, knownLate(s))
	}
	for i := max(0, len(s.Probes)-knownShown); i < len(s.Probes); i++ {
		out = append(out, knownProbe(&s.Probes[i], i >= len(s.Probes)-answersShown))
	}
	slices.SortStableFunc(out, func(a, b knownFact) int { return a.At.Compare(b.At) })
	return out
}

// knownDecisions are what people decided: the approvals and the resolution.
func knownDecisions(s *countersign.StepRun, approvals []countersign.Approval) []knownFact {
	var out []knownFact
	for i := range approvals {
		if a := &approvals[i]; a.StepID == s.ID && !a.DecidedAt.IsZero() && len(out) < knownShown {
			how := approvalState(*a)
			out = append(out, knownFact{At: a.DecidedAt, Class: how.Class, Icon: "i-user", Title: how.Word + " by " + called(a.DecidedBy, a.DecidedByName), Quote: a.DecisionReason})
		}
	}
	if rec := s.Reconciliation; rec != nil {
		out = append(out, knownFact{At: rec.At, Class: "is-idle", Icon: "i-user", Title: who(rec.By) + " said: " + resolutionWord(rec.Resolution), Quote: rec.Evidence})
	}
	return out
}

// knownSending is the latest attempt. Where the process ended meanwhile nobody
// knows whether the request had left this machine.
func knownSending(s *countersign.StepRun) knownFact {
	f := knownFact{At: s.StartedAt, Class: "is-idle", Icon: "i-send", Title: "Sent once", Key: s.IdempotencyKey, Left: true}
	if s.Attempt > 1 {
		f.Title = "Sent, for the " + nthTime(s.Attempt) + " time under the same key"
	}
	if s.Error != nil && strings.Contains(s.Error.Message, "the service stopped") {
		f.Title, f.Left = "Sending began", false
	}
	return f
}

func nthTime(n int) string {
	words := []string{"", "first", "second", "third", "fourth", "fifth"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n) + "th"
}

// knownUnknown is what stopped the run.
func knownUnknown(r *countersign.Run, s *countersign.StepRun) knownFact {
	f := knownFact{At: r.WaitingFor.Since, Class: "is-unc", Icon: "s-recovery", Title: upper(s.Error.Message), Code: s.Error.Code}
	if s.Response != nil && s.Response.StatusCode != 0 && s.Late == nil {
		f.Got = new(gotOf("answer", s.Response, s.Output))
	}
	return f
}

func knownLate(s *countersign.StepRun) knownFact {
	f := knownFact{At: s.Late.At, Class: "is-idle", Icon: "i-reply", Title: "A late answer arrived", Said: "Kept as evidence. It decides nothing by itself."}
	if after := s.Late.At.Sub(s.StartedAt); after > 0 {
		f.Title += ", " + took(after.Milliseconds()) + " after sending"
	}
	if s.Late.Error != "" {
		f.Said = upper(s.Late.Error) + ". " + f.Said
	}
	f.Got, f.Use = new(gotOf("late", s.Late.Response, s.Late.Output)), usable("late", s.Late.Output)
	return f
}

// knownProbe is one probe, whole where it is one of the latest: a page of twenty
// answers would be read by nobody.
func knownProbe(p *countersign.ProbeRecord, whole bool) knownFact {
	id := probeID(p)
	f := knownFact{At: p.At, Class: "is-idle", Icon: "i-probe", Title: "Probe " + strconv.Itoa(p.N) + " asked, read only", Said: "By " + who(p.By)}
	if p.Response != nil && p.Response.DurationMs > 0 {
		f.Said += ", in " + took(p.Response.DurationMs)
	}
	f.Said += "."
	if p.Error != "" {
		f.Said += " " + upper(p.Error) + "."
	}
	if p.Request != nil {
		f.Sent = new(sentOf(id+"-asked", *p.Request))
	}
	switch {
	case !whole:
		f.Said += " The API shows its answer."
	case p.Response != nil || !p.Output.IsZero():
		f.Got, f.Use = new(gotOf(id, p.Response, p.Output)), usable(id, p.Output)
	}
	return f
}

// usable names an answer that the output can be filled from: an object that is
// shown whole and not masked.
func usable(id string, answer countersign.Value) string {
	if answer.Kind() != countersign.KindObject || len(answer.Raw()) > longest || strings.Contains(answer.Raw(), hiddenText) {
		return ""
	}
	return id
}
