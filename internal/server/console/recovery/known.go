package recovery

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/text"
)

// The known facts about an uncertain step, in order of time: who approved it, that it
// was sent, what came back, and what people found since.

// knownFact is one fact.
type knownFact struct {
	At    time.Time
	Class string // of the icon's color
	Icon  string
	Title string
	Said  string // details
	Quote string // a person's own words
	By    string // who approved
	Code  countersign.Code
	Sent  *drawn.Sent // the request of a probe
	Key   string      // the idempotency key
	Left  bool        // the request certainly left this machine
	Got   *drawn.Got
	Use   string // "late" or "probe-n": its output can prefill the form
}

// Bounds of the page: approvals and probes; probes with their responses.
const (
	knownShown   = 20
	answersShown = 3
)

// knownOf lists the facts about a step. approvals are the run's.
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

// knownDecisions are the decided approvals and the resolution.
func knownDecisions(s *countersign.StepRun, approvals []countersign.Approval) []knownFact {
	var out []knownFact
	for i := range approvals {
		if a := &approvals[i]; a.StepID == s.ID && a.Status != countersign.ApprovalPending && len(out) < knownShown {
			how := text.ApprovalState(*a)
			out = append(out, knownFact{At: a.DecidedAt, Class: how.Class, Icon: "i-user", Title: how.Word + " by " + text.Called(a.DecidedBy, a.DecidedByName), Quote: text.DecidedBecause(a.DecidedBy, a.DecisionReason), By: desk.Name(a.DecidedBy, a.DecidedByName)})
		}
	}
	if rec := s.Reconciliation; rec != nil {
		out = append(out, knownFact{At: rec.At, Class: "is-idle", Icon: "i-user", Title: text.Called(rec.By, rec.ByName) + " said: " + resolutionWord(rec.Resolution), Quote: rec.Evidence})
	}
	return out
}

// knownSending is the latest attempt. If the process stopped meanwhile, it is unknown
// whether the request had left this machine.
func knownSending(s *countersign.StepRun) knownFact {
	f := knownFact{At: s.StartedAt, Class: "is-idle", Icon: "i-send", Title: "Sent once", Key: s.IdempotencyKey, Left: true}
	if s.Attempt > 1 {
		f.Title = "Sent, for the " + nthTime(s.Attempt) + " time under the same key"
	}
	if s.Error != nil && strings.HasPrefix(s.Error.Message, "the service stopped") {
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

// knownUnknown is the error that stopped the run.
func knownUnknown(r *countersign.Run, s *countersign.StepRun) knownFact {
	f := knownFact{At: r.WaitingFor.Since, Class: "is-unc", Icon: "s-recovery", Title: text.Upper(text.InWords(s.Error.Message)), Code: s.Error.Code}
	if s.Response != nil && s.Response.StatusCode != 0 && s.Late == nil {
		f.Got = new(drawn.GotOf("answer", s.Response, s.Output))
	}
	return f
}

func knownLate(s *countersign.StepRun) knownFact {
	f := knownFact{At: s.Late.At, Class: "is-idle", Icon: "i-reply", Title: "A late answer arrived", Said: "Kept as evidence. It decides nothing by itself."}
	if after := s.Late.At.Sub(s.StartedAt); after > 0 {
		f.Title += ", " + text.Took(after.Milliseconds()) + " after sending"
	}
	if s.Late.Error != "" {
		f.Said = text.Upper(text.InWords(s.Late.Error)) + ". " + f.Said
	}
	f.Got, f.Use = new(drawn.GotOf("late", s.Late.Response, s.Late.Output)), usable("late", s.Late.Output)
	return f
}

// knownProbe is one probe, with its response only if it is one of the latest.
func knownProbe(p *countersign.ProbeRecord, whole bool) knownFact {
	id := runs.ProbeID(p)
	f := knownFact{At: p.At, Class: "is-idle", Icon: "i-probe", Title: "Probe " + strconv.Itoa(p.N) + " asked, read only", Said: "By " + text.Called(p.By, p.ByName)}
	if p.Response != nil && p.Response.DurationMs > 0 {
		f.Said += ", in " + text.Took(p.Response.DurationMs)
	}
	if p.Capability != "" {
		f.Said += ", calling " + p.Capability
	}
	f.Said += "."
	if p.Error != "" {
		f.Said += " " + text.Upper(text.InWords(p.Error)) + "."
	}
	if p.Request != nil {
		f.Sent = new(drawn.SentOf(id+"-asked", *p.Request))
	}
	switch {
	case !whole:
		f.Said += " The API shows its answer."
	case p.Response != nil || !p.Output.IsZero():
		f.Got, f.Use = new(drawn.GotOf(id, p.Response, p.Output)), usable(id, p.Output)
	}
	return f
}

// usable returns id if the output can be prefilled from this response: an object shown
// whole and unmasked; else "".
func usable(id string, answer countersign.Value) string {
	if answer.Kind() != countersign.KindObject || len(answer.Raw()) > text.Longest || strings.Contains(answer.Raw(), drawn.HiddenText) {
		return ""
	}
	return id
}
