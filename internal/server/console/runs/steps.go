package runs

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

type stepLine struct {
	ID    string // element ID
	Href  string
	Name  string
	Sub   string
	Took  string
	State text.State
	Here  bool
	Todo  bool
	Code  string // the capability
	Bars  []drawn.Stretch
}

func stepLines(r *countersign.Run, chosen int, a drawn.Axis) []stepLine {
	self := web.Prefix + "/runs/" + r.ID
	lines := make([]stepLine, len(r.Steps))
	for i := range r.Steps {
		s := &r.Steps[i]
		lines[i] = stepLine{
			ID: "s-" + strconv.Itoa(i+1), Href: stepHref(self, s.ID), Name: text.NameOf(s), Code: s.Capability, Sub: stepWords(r, s),
			State: text.StepState(*s), Here: i == chosen, Todo: !begun(s),
		}
		if r.Mode == countersign.ModeLive {
			lines[i].Bars = a.InTime(r, s)
		}
		if s.Response != nil {
			lines[i].Took = text.Took(s.Response.DurationMs)
		}
	}
	return lines
}

// stepWords adds to a step's status what the status doesn't say.
func stepWords(r *countersign.Run, s *countersign.StepRun) string {
	switch s.Status {
	case countersign.StepCompleted:
		return completedWords(s)
	case countersign.StepRunning:
		return sentWords(s.Attempt)
	case countersign.StepWaitingApproval:
		return "not sent yet"
	case countersign.StepRecoveryRequired, countersign.StepAbandoned:
		return "outcome unknown"
	case countersign.StepFailed:
		if s.Error != nil {
			return string(s.Error.Code)
		}
	case countersign.StepSimulated:
		if s.WouldBe == countersign.WouldBeDenied {
			return "a rule would deny it"
		}
		if s.ApprovalRequired {
			return "will ask for approval"
		}
		return "nothing was sent"
	case countersign.StepPending:
		return pendingWords(r, s)
	case countersign.StepSkipped:
		return "not started"
	case countersign.StepCancelled:
		if s.Attempt > 0 {
			return sentWords(s.Attempt)
		}
		return "not started"
	}
	return ""
}

func completedWords(s *countersign.StepRun) string {
	words := "nothing to verify"
	if text.Proven(s) {
		words = "verified"
	}
	if s.Reconciliation != nil && s.Reconciliation.Resolution == countersign.ConfirmedCompleted {
		return words + ", confirmed by a person"
	}
	return words
}

func sentWords(attempt int) string {
	if attempt == 1 {
		return "sent once"
	}
	return "sent " + strconv.Itoa(attempt) + " times"
}

func pendingWords(r *countersign.Run, s *countersign.StepRun) string {
	if s.ApprovalRequired && r.Mode == countersign.ModeLive {
		return "asks for approval first"
	}
	if len(s.DependsOn) == 0 {
		return "to come"
	}
	names := make([]string, len(s.DependsOn))
	for i, id := range s.DependsOn {
		names[i] = id
		if at := text.StepIndex(r, id); at >= 0 {
			names[i] = text.NameOf(&r.Steps[at])
		}
	}
	return "after " + strings.Join(names, ", ")
}

// tinted is a state's icon in its color, with its word as accessible name.
func tinted(s text.State) template.HTML {
	icon := string(web.Named(s.Icon, s.Word))
	return template.HTML(strings.Replace(icon, `class="i`, `class="i `+s.Class, 1)) //nolint:gosec // named escapes, the class is ours
}
