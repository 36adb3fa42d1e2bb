package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// Ref names an approval or a change that weakens, and what its message said of it.
type Ref struct {
	Tenant   string
	Approval string // "" for a change
	Change   string // "" for an approval
	Digest   string // of the request, or of the change; "" where the message may not say it
}

func (r Ref) job() job { return job{r.Tenant, r.Approval, r.Change} }

// Message is what the channel is told about an approval or a change. All texts are safe to show as plain
// text, one line each unless they say otherwise: hidden characters are written as escapes.
// An adapter must not have them read as markup.
type Message struct {
	Ref
	Title string
	Facts []Fact
	More  int      // facts that aren't listed
	State []string // what has been decided, and what is waited for: sentences
	Open  bool     // it may still be decided
	Again bool     // another message about it may exist
	Link  string   // of the page in the console
}

// Fact is a name and its value.
type Fact struct{ Name, Value string }

// Question is what a person sees who is about to decide: all that would be sent, or changed.
type Question struct {
	Ref
	Decision countersign.ApprovalStatus
	Title    string
	Facts    []Fact
	Notes    []string // what to look at, each a sentence
	Shows    string   // what the lines below are
	Request  string   // the whole request, or all that changes, in lines
	Link     string
}

// Bounds of a message in a channel. The question has everything whole.
const (
	maxFacts  = 12
	maxFact   = 300 // characters of a value
	maxReason = 600 // characters of a reason
	maxStates = 12  // decisions that are told
	maxNamed  = 10  // users who may decide
)

// messageOf says what a channel is told. a is the approval as a VIEWER sees it: anybody may
// read a channel.
func messageOf(ref Ref, a *countersign.Approval, who control.Deciders, now time.Time, link string) Message {
	m := Message{
		Ref: ref, Title: titleOf(a), Open: a.Status == countersign.ApprovalPending, Link: link,
	}
	m.Facts = []Fact{
		{"Capability", safetext.Value(a.Capability) + " at " + a.ProjectID},
		{"Asked by", principal(a.RequestedBy, a.RequestedByName)},
	}
	m.Facts = append(m.Facts, behind(a)...)
	if a.RunReason != "" {
		m.Facts = append(m.Facts, Fact{"Their reason", shortened(safetext.Value(a.RunReason), maxFact)})
	}
	inputs := inputsOf(a)
	for _, f := range inputs[:min(len(inputs), maxFacts)] {
		m.Facts = append(m.Facts, Fact{f.Name, shortened(f.Value, maxFact)})
	}
	m.More = len(inputs) - min(len(inputs), maxFacts)
	for _, f := range lookedAt(a) {
		m.Facts = append(m.Facts, Fact{f.Name, shortened(f.Value, maxFact)})
	}
	m.State = append(stateOf(a), waitOf(a, who, now)...)
	return m
}

// questionOf says what a person is asked. a is the approval as that person sees it.
func questionOf(ref Ref, a *countersign.Approval, d countersign.ApprovalStatus, notes []string, link string) Question {
	q := Question{
		Ref: ref, Decision: d, Title: titleOf(a), Link: link, Shows: "This is sent:", Request: requestText(&a.Request),
		Facts: []Fact{
			{"Capability", safetext.Value(a.Capability) + " at " + a.ProjectID},
			{"Asked by", principal(a.RequestedBy, a.RequestedByName)},
			{"Expires", moment(a.ExpiresAt)},
		},
	}
	q.Facts = append(q.Facts, behind(a)...)
	if a.RunReason != "" {
		q.Facts = append(q.Facts, Fact{"Their reason", safetext.Value(a.RunReason)})
	}
	if w := a.AgentWords; w != nil {
		q.Facts = append(q.Facts, Fact{"The agent's words, which nobody has checked", safetext.Value(strings.TrimSpace(w.Task + " " + w.Reason + " " + w.Again))})
	}
	q.Facts = append(append(q.Facts, inputsOf(a)...), lookedAt(a)...)
	q.Notes = append(notesOf(a), notes...)
	return q
}

// behind says for whom an agent asked, and by which identity.
func behind(a *countersign.Approval) (facts []Fact) {
	if words := a.BehindWords(); words != "" {
		facts = append(facts, Fact{"On behalf of", safetext.Value(words)})
	}
	if a.Identity != nil {
		facts = append(facts, Fact{"Signed in by", safetext.Value(a.Identity.Shown())})
	}
	return facts
}

// notesOf says what of an approval a person should look at before deciding.
func notesOf(a *countersign.Approval) (out []string) {
	for _, s := range a.Same {
		out = append(out, fmt.Sprintf("Exactly this request was in run %s, step %s (%s) on %s.", s.RunID, safetext.Value(s.StepID), s.Status, moment(s.At)))
	}
	for _, s := range a.Sources {
		checked := "and was verified"
		if !s.Verified {
			checked = "and was not verified"
		}
		out = append(out, fmt.Sprintf("%s comes from %s of step %s, %s.", safetext.Value(s.Input), safetext.Value(s.Field), safetext.Value(s.StepID), checked))
	}
	for _, r := range a.Reasons {
		out = append(out, "A rule asks: "+safetext.Value(r))
	}
	if !a.Expectation.IsZero() {
		out = append(out, "The answer must be: "+safetext.JSON(a.Expectation.Raw()))
	}
	if doubt := doubtOf(&a.Request); doubt != "" {
		out = append(out, "Look closely at the values: "+doubt+".")
	}
	if len(a.RequestedByMakers) > 0 {
		out = append(out, "Who asked goes back to "+safetext.Value(strings.Join(a.RequestedByMakers, ", "))+".")
	}
	for _, m := range request.Unlisted(a, listed...) {
		out = append(out, safetext.Value(m.Name)+": "+safetext.JSON(m.Value.Raw()))
	}
	return out
}

// doubtOf is the first value of a request that may not be what it looks like.
func doubtOf(r *countersign.Request) string {
	d := request.Describe(*r)
	found := cmp.Or(safetext.DoubtJSON(d.Body.Raw()), safetext.Doubt(d.URL))
	for _, m := range d.Others {
		found = cmp.Or(found, safetext.DoubtJSON(m.Value.Raw()))
	}
	return found
}

// listed are the members of an approval that its message and its question have words for, or
// that its page is for.
var listed = []string{
	"id", "status", "projectId", "capability", "attempt", "title", "inputSnapshot", "request", "requestDigest", "expectation", "sources", "same", "runReason", "agentWords", "reasons",
	"requestedBy", "requestedByName", "requestedAt", "requestedByMakers", "expiresAt", "decisions", "approvalsNeeded", "groups", "escalations",
	"decidedAt", "decidedBy", "decidedByName", "decidedByMakers", "decisionReason", "suggestedInput", "sharedMaker", "decisionAssertion",
	"runId", "stepId", "planId", "identity", "onBehalfOf", "behindUnknown", "changed",
}

func titleOf(a *countersign.Approval) string {
	if a.Title != "" {
		return safetext.Value(a.Title)
	}
	return safetext.Value(a.Capability) + " at " + a.ProjectID
}

// inputsOf lists the inputs, sorted by name.
func inputsOf(a *countersign.Approval) (out []Fact) {
	for name, v := range a.InputSnapshot {
		out = append(out, Fact{safetext.Value(name), valueText(v)})
	}
	slices.SortFunc(out, func(a, b Fact) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// valueText is a value on one line: a string as it reads, and what else there is as JSON.
func valueText(v countersign.Value) string {
	if v.Kind() == countersign.KindString {
		if text := safetext.Value(v.Text()); text != "" {
			return text
		}
		return `""`
	}
	return safetext.JSON(v.Raw())
}

// stateOf says what was decided, by whom and why.
func stateOf(a *countersign.Approval) (out []string) {
	given := a.Decisions
	if len(given) == 0 && a.DecidedBy != "" {
		given = []countersign.GivenDecision{{Decision: a.Status, By: a.DecidedBy, ByName: a.DecidedByName, Reason: a.DecisionReason, At: a.DecidedAt}}
	}
	if left := len(given) - maxStates; left > 0 {
		out, given = append(out, fmt.Sprintf("%d earlier decisions are on the page.", left)), given[left:]
	}
	for _, d := range given {
		word := "Approved"
		if d.Decision == countersign.ApprovalRejected {
			word = "Rejected"
		}
		out = append(out, fmt.Sprintf("%s by %s%s on %s: %s", word, principal(d.By, d.ByName), insteadOf(d), moment(d.At), shortened(safetext.Value(countersign.DecisionWords(d.By, d.Reason, asGiven)), maxReason)))
	}
	switch a.Status {
	case countersign.ApprovalApproved:
		out = append(out, "It is approved. Nothing more can be decided here.")
	case countersign.ApprovalRejected:
		out = append(out, "It is rejected. Nothing more can be decided here.")
	}
	return out
}

// insteadOf says in whose place a decision was given.
func insteadOf(d countersign.GivenDecision) (text string) {
	if len(d.OnBehalfOf) > 0 {
		text = " in place of " + safetext.Value(strings.Join(d.OnBehalfOf, ", "))
	}
	if len(d.Escalated) > 0 {
		text += ", of " + safetext.Value(strings.Join(d.Escalated, ", ")) + ", to whom it had escalated,"
	}
	return text
}

// waitOf says of an approval that waits who may decide it now, and until when.
func waitOf(a *countersign.Approval, who control.Deciders, now time.Time) (out []string) {
	if a.Status != countersign.ApprovalPending {
		return nil
	}
	if len(a.Groups) > 0 {
		out = append(out, "Members of "+strings.Join(a.Groups, " and ")+" decide.")
	}
	for _, e := range a.Escalations {
		since := "From "
		if !now.Before(e.At) {
			since = "Escalated: since "
		}
		out = append(out, fmt.Sprintf("%s%s members of %s may decide in place of %s.", since, moment(e.At), strings.Join(e.Groups, " and "), strings.Join(e.For, " and ")))
	}
	if a.Needed() > 1 {
		out = append(out, fmt.Sprintf("%d different people must approve.", a.Needed()))
	}
	wait := "Waits for a decision until " + moment(a.ExpiresAt) + "; undecided, the system rejects it."
	if !now.Before(remind.ExpiresSoonAt(a.RequestedAt, a.ExpiresAt)) {
		wait = "Expires soon. " + wait
	}
	return append(out, ableText(who), wait)
}

// ableText names users who may decide, and in whose place they would.
func ableText(who control.Deciders) string {
	if len(who.Users) == 0 {
		return "No user may decide it now."
	}
	var names []string
	for _, u := range who.Users {
		name := safetext.Value(u.Email)
		if len(u.For) > 0 {
			name += " (in place of " + safetext.Value(strings.Join(u.For, " and ")) + ")"
		}
		names = append(names, name)
	}
	return nameText(names, who.More)
}

func nameText(names []string, more bool) string {
	text := "May decide now: " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more || len(names) > maxNamed {
		text += ", and others"
	}
	return text + "."
}

// principal is who it is: the kind and id, then the name in quotes, which may be any text.
func principal(id, name string) string {
	who := safetext.Value(asGiven(id))
	if name == "" || id == "user:"+name {
		return who
	}
	return who + " “" + safetext.Value(name) + "”"
}

// asGiven is a principal in a text that is made safe as a whole.
func asGiven(id string) string { return strings.TrimPrefix(strings.Replace(id, ":", " ", 1), "user ") }

func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// shortened says that it is.
func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return fmt.Sprintf("%s … (shortened from %d characters; whoever decides sees all)", string(runes[:most]), len(runes))
}

// requestText is the request as it will be sent, in lines.
func requestText(r *countersign.Request) string {
	var b strings.Builder
	d := request.Describe(*r)
	fmt.Fprintf(&b, "%s %s\n", d.Method, safetext.Value(d.URL))
	for _, m := range d.Others {
		fmt.Fprintf(&b, "%s %s\n", safetext.Value(m.Name), safetext.JSON(m.Value.Raw()))
	}
	if d.Body.IsZero() {
		return b.String() + "no body"
	}
	var body bytes.Buffer
	if err := json.Indent(&body, []byte(d.Body.Raw()), "", "  "); err != nil {
		return b.String() + safetext.JSON(d.Body.Raw())
	}
	return b.String() + safetext.JSON(body.String())
}
