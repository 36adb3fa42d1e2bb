package mcp

import (
	"strings"

	"github.com/countersign/countersign"
)

// meaning is what an outcome means: to whoever reads a tool's description, and in an answer, with
// what is to be done.
type meaning struct{ outcome, means, then string }

// meanings are all of them, in the order in which a model meets them.
var meanings = []meaning{
	{outcomeRehearsed, "nothing was sent, and this is what would be", "nothing else is to be done for it"},
	{outcomeDone, "it was answered as expected", "nothing else is to be done for it"},
	{outcomeWaiting, "a person must approve it at url before anything is sent", "end your turn, or ask " + statusTool + " with this runId later, and don't call it again or do it in another way"},
	{outcomeRunning, "it is under way", "ask " + statusTool + " with this runId for its end, and do nothing else about it meanwhile"},
	{outcomeHeld, "a stop holds it, and it goes on by itself when an administrator lifts the stop", "ask " + statusTool + " with this runId later, and don't do it in another way"},
	{outcomeRefused, "nothing took effect, for the reason in error", "correct what it names or tell whom you work for, and don't try it in another way"},
	{outcomeNotAsExpected, "it was answered otherwise than expected, and may have taken effect", "tell whom you work for, and don't do it again in any form"},
	{outcomeUnknown, "nobody knows whether it took effect, and a person finds out", "don't do it again in any form; ask " + statusTool + " with this runId later"},
	{outcomeStopped, "it was cancelled before anything was sent", "tell whom you work for, and don't do it in another way"},
}

// outcomeWords says of each outcome what it means.
func outcomeWords() string {
	parts := make([]string, len(meanings))
	for i, m := range meanings {
		parts[i] = m.outcome + ": " + m.means
	}
	return strings.Join(parts, "; ") + "."
}

// messageOf is one sentence: what the outcome of a run means, what is to be done, and that
// nothing else is.
func messageOf(outcome string, r *countersign.Run, suggested bool) string {
	for _, m := range meanings {
		if m.outcome != outcome {
			continue
		}
		switch {
		case outcome == outcomeRefused:
			m = refusedWords(m, r, suggested)
		case outcome == outcomeRehearsed:
			m.means = rehearsedWords(m.means, r)
		case outcome == outcomeUnknown && r.Status.IsTerminal():
			m.means = "nobody knows whether it took effect, and its run has ended"
			m.then = "tell whom you work for, and don't do it again in any form"
		}
		return strings.ToUpper(m.means[:1]) + m.means[1:] + ": " + m.then + "."
	}
	return ""
}

// rehearsedWords say what would become of the same call LIVE.
func rehearsedWords(means string, r *countersign.Run) string {
	would := map[string]bool{}
	for i := range r.Steps {
		would[r.Steps[i].WouldBe] = true
	}
	switch {
	case would[countersign.WouldBeDenied]:
		return "nothing was sent, and LIVE it would be denied"
	case would[countersign.RuleAsk]:
		return means + ", once a person has approved it"
	}
	return means
}

// repeatedWords say of a call that was answered by an earlier one that it did nothing itself.
func repeatedWords(outcome, message string) string {
	if outcome != outcomeDone {
		return message
	}
	return "This call sent nothing, for the same call was made at startedAt and was answered as expected: nothing else is to be done for it, unless it is meant to be done once more, which again says."
}

// refusedWords says of a run that was refused what may follow.
func refusedWords(m meaning, r *countersign.Run, suggested bool) meaning {
	switch code := r.Code(); {
	case suggested:
		m.means = "nothing took effect, for a person rejected it, who would approve suggestedInput instead"
		m.then = "call it with suggestedInput, which is decided anew, or tell whom you work for, and don't ask for it in other words"
	case code == countersign.CodeApprovalRejected:
		m.means = "nothing took effect, for a person rejected it with the reason in error"
		m.then = "tell whom you work for, and don't ask for it again in other words"
	case code == countersign.CodeDeniedByRule, code == countersign.CodeDeniedByBudget:
		m.then = "tell whom you work for, and don't try it in another way or in parts"
	case code == countersign.CodeReceiverRefused:
		m.then = "what the API said is in steps[].response: correct what it names or tell whom you work for, and don't try it in another way"
	case nothingLeft[code]:
		m.means = "nothing was sent, for the reason in error"
		m.then = "once that is put right the same call is a new attempt; until then tell whom you work for, and don't try it in another way"
	}
	return m
}

// nothingLeft are the codes of runs that a repeat doesn't find: they end before anything is sent,
// and nobody has said no.
var nothingLeft = map[countersign.Code]bool{
	countersign.CodeNotSent: true, countersign.CodeApprovalExpired: true, countersign.CodeDrift: true,
	countersign.CodeProjectDisabled: true, countersign.CodeSetAside: true,
	countersign.CodePreconditionFailed: true, countersign.CodePreconditionUnknown: true,
}
