package runs

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
)

func doneWords(r *countersign.Run) string {
	n := len(r.Steps)
	if r.Mode == countersign.ModeDryRun {
		asks := 0
		for i := range r.Steps {
			if r.Steps[i].ApprovalRequired {
				asks++
			}
		}
		if asks == 0 {
			return "Rehearsed. Nothing was sent; no step will ask for approval."
		}
		return "Rehearsed. Nothing was sent; " + text.Plural(asks, "step", "steps") + " will ask for approval."
	}
	switch {
	case r.UnverifiedSteps > 0:
		return "Done. " + strconv.Itoa(r.UnverifiedSteps) + " of " + text.Plural(n, "step", "steps") + " had nothing to verify."
	case n == 1:
		return "Done. The step is verified."
	}
	return "Done. All " + text.Plural(n, "step", "steps") + " are verified."
}

func (c *callout) failed(r *countersign.Run) {
	code, message, _ := strings.Cut(r.Error, ": ")
	c.Code = countersign.Code(code)
	i := text.IndexOfStep(r, countersign.StepFailed)
	reason, next := failure(c.Code, message, r, i)
	at := ""
	if i >= 0 {
		at = " at step " + strconv.Itoa(i+1)
	}
	c.Sentence = ended("The run failed" + at + ": " + reason)
	if words := r.HappenedWords(); words != "" {
		next = text.Upper(words) + ": check at " + text.HostOf(&r.Steps[max(i, 0)]) + "."
	}
	c.Detail = strings.TrimSpace(next + " " + rangeWords(r, countersign.StepSkipped, "skipped"))
	if c.Code == countersign.CodeReceiverRefused && i >= 0 && r.Steps[i].Response != nil {
		c.Said = drawn.Clip(r.Steps[i].Response.Body)
	}
}

// ended adds a period, except after a quotation.
func ended(sentence string) string {
	if strings.HasSuffix(sentence, "”") {
		return sentence
	}
	return sentence + "."
}

// failures are texts for failed runs: the reason and what to do. {host} is the called
// host, {message} the error's message.
var failures = map[countersign.Code]struct{ reason, next string }{
	countersign.CodeReceiverRefused: {
		"{host} refused the request{status}", "The API says it made no change. Change the input and run it again.",
	},
	countersign.CodeExpectationNotMet: {"the answer was not what was expected ({message})", ""},
	countersign.CodeOutputMissing:     {"{message}", ""},
	countersign.CodeNotSent:           {"nothing was sent: {message}", "Correct the connection and start a new run."},
	countersign.CodeOutcomeUnknown:    {"no usable answer came ({message})", "It was a read: nothing was changed. Start a new run."},
	countersign.CodeApprovalRejected:  {"{by} rejected it: “{why}”", "Nothing was sent for this step."},
	countersign.CodeDeniedByRule:      {"a rule denies it: {message}", "Nothing was sent for this step."},
	countersign.CodeApprovalExpired:   {"nobody decided in time, so the system rejected it", "Nothing was sent for this step."},
	countersign.CodeDrift:             {"{message}", "Nothing was sent for this step."},
	countersign.CodeProjectDisabled:   {"{message}", "Nothing was sent for this step."},
	countersign.CodeSetAside:          {"{message}", "Start a new run; if it fails likewise, the log of the service says why."},
}

// failure is why step i failed, and what to do. A message in another format, such as a
// masked one, is shown as it is.
func failure(code countersign.Code, message string, r *countersign.Run, i int) (reason, next string) {
	words, known := failures[code]
	by, why, told := strings.Cut(message, " rejected it: ")
	if !known || code == countersign.CodeApprovalRejected && !told {
		return message, ""
	}
	host := "the receiver"
	if i >= 0 {
		host = text.HostOf(&r.Steps[i])
	}
	fill := strings.NewReplacer("{host}", host, "{message}", text.InWords(message), "{status}", withStatus(r, i), "{by}", text.Who(by), "{why}", why)
	return fill.Replace(words.reason), fill.Replace(words.next)
}

func withStatus(r *countersign.Run, i int) string {
	if i < 0 || r.Steps[i].Response == nil {
		return ""
	}
	return " with " + strconv.Itoa(r.Steps[i].Response.StatusCode)
}

func (c *callout) cancelled(r *countersign.Run) {
	code, message, _ := strings.Cut(r.Error, ": ")
	c.Code, c.Detail = countersign.Code(code), rangeWords(r, countersign.StepCancelled, "not started")
	i := reconciledStep(r)
	switch by, why, given := strings.Cut(message, ": "); {
	case c.Code == countersign.CodeAbandoned:
		c.Sentence = "Abandoned: it is unknown whether " + text.StepTitle(r, i) + " was done."
	case given:
		c.Sentence = "Cancelled by " + text.Who(by) + ": “" + why + "”"
	default:
		c.Sentence = "Cancelled while " + text.StepTitle(r, i) + " was on its way; " + resolvedWords(r, i) + "."
	}
	if words := r.HappenedWords(); words != "" {
		c.Detail = strings.TrimSpace(text.Upper(words) + ": check at " + text.HostOf(&r.Steps[max(i, 0)]) + ". " + c.Detail)
	}
}

func resolvedWords(r *countersign.Run, i int) string {
	if i < 0 {
		return "an approver recorded what happened"
	}
	by := text.Called(r.Steps[i].Reconciliation.By, r.Steps[i].Reconciliation.ByName)
	switch r.Steps[i].Reconciliation.Resolution {
	case countersign.ConfirmedCompleted:
		return by + " confirmed that it happened"
	case countersign.ConfirmedNotExecuted:
		return by + " confirmed that it did not happen"
	}
	return by + " gave it up"
}

func reconciledStep(r *countersign.Run) int {
	for i := range r.Steps {
		if r.Steps[i].Reconciliation != nil && r.Steps[i].Status != countersign.StepPending {
			return i
		}
	}
	return -1
}

// rangeWords says which steps have a status, by number if they are consecutive.
func rangeWords(r *countersign.Run, status countersign.StepStatus, word string) string {
	first, last, n := 0, 0, 0
	for i := range r.Steps {
		if r.Steps[i].Status == status && r.Steps[i].Attempt == 0 {
			if n++; n == 1 {
				first = i + 1
			}
			last = i + 1
		}
	}
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "Step " + strconv.Itoa(first) + " was " + word + "."
	case last-first == n-1:
		return "Steps " + strconv.Itoa(first) + " to " + strconv.Itoa(last) + " were " + word + "."
	}
	return text.Plural(n, "step was ", "steps were ") + word + "."
}

func cancelledBy(r *countersign.Run) string {
	code, message, _ := strings.Cut(r.Error, ": ")
	if by, _, given := strings.Cut(message, ": "); given && countersign.Code(code) == countersign.CodeCancelled {
		return "by " + text.Who(by)
	}
	if countersign.Code(code) == countersign.CodeAbandoned {
		return "abandoned, outcome unknown"
	}
	return "while a step was on its way"
}
