// Package approvals has the commands of who decides.
package approvals

import (
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/cli/runs"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands are the commands on approvals (specification 2.12).
type Commands struct {
	List   List                               `cmd:"" help:"List the approvals, newest first." example:"approvals list --status PENDING"`
	Show   service.Show[countersign.Approval] `cmd:"" set:"whose=The approval's" help:"Show exactly what will be sent." example:"approvals show apr-1"`
	Look   Look                               `cmd:"" help:"Read the state of the approval's precondition again (who may decide it). Decides nothing." example:"approvals look apr-1"`
	Decide Decide                             `cmd:"" help:"Approve or reject (APPROVER, but never the requester)." example:"approvals decide apr-1 --approve --reason 'the goods are back'"`
}

// New returns the commands, with what each asks for and prints.
func New() (c Commands) {
	c.Show = service.Shows((*client.Client).Approval, printApproval)
	return c
}

// List is the command `approvals list`.
type List struct {
	Status string `enum:",PENDING,APPROVED,REJECTED" default:"" help:"Only those of this status." placeholder:"STATUS"`
	RunID  string `name:"run" help:"Only those of this run." placeholder:"ID"`

	Project     string `help:"Only those of this project." placeholder:"ID"`
	Agent       string `help:"Only those of this agent's steps." placeholder:"ID"`
	RequestedBy string `help:"Only those of runs that this principal asked for." placeholder:"PRINCIPAL"`
	Group       string `help:"Only those that this group decides." placeholder:"ID"`
	Text        string `help:"Only those that have this text in what you are shown." placeholder:"TEXT"`
	Order       string `enum:",oldest,expires,amount" default:"" help:"oldest, expires or amount instead of the newest first." placeholder:"ORDER"`
	service.Listing
}

var approvalTable = service.Columns[countersign.Approval]{
	Heading: []string{"id", "status", "run", "step", "capability", "asked by", "asked", "expires", "decided by", "reason"},
	Row: func(a countersign.Approval) []string {
		return []string{a.ID, string(a.Status), a.RunID, a.StepID, a.ProjectID + " " + a.Capability, words.Called(a.RequestedBy, a.RequestedByName), words.Moment(a.RequestedAt), words.Moment(a.ExpiresAt), words.Called(a.DecidedBy, a.DecidedByName), words.DecidedBecause(a.DecidedBy, a.DecisionReason)}
	},
}

// Run lists the approvals.
func (l *List) Run(t *terminal.Terminal) error {
	return service.ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[countersign.Approval], error) {
		return c.Approvals(t.Context, client.ApprovalFilter{
			Paging: p, Status: countersign.ApprovalStatus(l.Status), RunID: l.RunID,
			ProjectID: l.Project, AgentID: l.Agent, RequestedBy: l.RequestedBy, Group: l.Group, Text: l.Text, Order: l.Order,
		})
	}, approvalTable)
}

func printApproval(w io.Writer, a *countersign.Approval) {
	facts := [][2]string{{"approval", a.ID}, {"status", words.Decided(string(a.Status), words.Called(a.DecidedBy, a.DecidedByName), a.DecidedAt, words.DecidedBecause(a.DecidedBy, a.DecisionReason))}, {"run", a.RunID}, {"step", a.StepID}, {"attempt", words.Number(a.Attempt)},
		{"capability", a.ProjectID + " " + a.Capability}, {"title", a.Title}, {"asked by", words.Called(a.RequestedBy, a.RequestedByName)}, {"asked", words.Moment(a.RequestedAt)}, {"expires", words.Moment(a.ExpiresAt)}, {"RESTORED", countersign.RestoredWords(a.RestoredAt)}}
	facts = append(facts, runs.BehindFacts(a.Identity, a.BehindWords())...)
	facts = append(facts, makerFacts(a)...)
	facts = append(facts, [2]string{"started because", words.Doubted(a.RunReason)})
	if w := a.AgentWords; w != nil {
		facts = append(facts, [2]string{"agent: task", words.Doubted(w.Task)}, [2]string{"agent: reason", words.Doubted(w.Reason)}, [2]string{"agent: again", words.Doubted(w.Again)})
	}
	facts = append(facts, deciderFacts(a)...)
	facts = append(facts, runs.RequestFacts(&a.Request, a.RequestDigest)...)
	facts = append(facts, stateFacts(a)...)
	if !a.Expectation.IsZero() {
		facts = append(facts, [2]string{"expects", words.Doubted(words.Value(a.Expectation))})
	}
	for _, s := range a.Sources {
		facts = append(facts, [2]string{"input " + s.Input, "from " + s.StepID + "." + s.Field + map[bool]string{true: ", verified", false: ", not verified"}[s.Verified]})
	}
	for _, s := range a.Same {
		facts = append(facts, [2]string{"SAME REQUEST", s.RunID + " step " + s.StepID + ", " + string(s.Status) + ", " + words.Moment(s.At)})
	}
	facts = append(facts, comparedFacts(a)...)
	if a.SuggestedInput != nil {
		facts = append(facts, [2]string{"would approve", words.Doubted(words.Value(countersign.ObjectValue(a.SuggestedInput)))})
	}
	terminal.Facts(w, append(facts, runs.MemberFacts(request.Unlisted(a, approvalListed...))...)...)
}

// approvalListed are the members that printApproval has words for.
var approvalListed = []string{
	"id", "status", "runId", "stepId", "projectId", "capability", "attempt", "title", "request", "requestDigest", "expectation", "sources", "same", "runReason", "agentWords",
	"requestedBy", "requestedByName", "requestedAt", "requestedByMakers", "expiresAt", "decidedAt", "decidedBy", "decidedByName", "decidedByMakers", "decisionReason", "suggestedInput", "sharedMaker",
	"decisions", "approvalsNeeded", "groups", "escalations", "reasons", "identity", "onBehalfOf", "behindUnknown", "usual", "requesterRecord", "suggestedFrom",
	"state", "stateDigest", "changed", "askedAgain", "previousApprovalId", "superseded",
	"inputSnapshot", // all of it is in the request
}

// comparedFacts say what the approval is compared with.
func comparedFacts(a *countersign.Approval) (facts [][2]string) {
	if u := a.Usual; u != nil {
		facts = append(facts, [2]string{"usually", words.Plain(u.Field) + " " + u.Median.Raw() + ", the median of " + words.Number(u.Count) + " that were approved"})
	}
	if r := a.RequesterRecord; r != nil {
		facts = append(facts, [2]string{"asker's record", words.Number(r.Verified) + " of " + words.Number(r.Runs) + " runs verified, " + words.Number(r.Rejected) + " rejected"})
	}
	if s := a.SuggestedFrom; s != nil {
		facts = append(facts, [2]string{"suggested by", words.Called(s.By, s.ByName) + ", who rejected " + s.ApprovalID + " of " + s.RunID})
	}
	return facts
}

// deciderFacts lists how many people must decide and who has decided, for an approval that
// needs several.
func deciderFacts(a *countersign.Approval) (facts [][2]string) {
	if a.Needed() > 1 || len(a.Groups) > 0 {
		facts = [][2]string{{"needs", words.Number(a.Needed()) + " approvals"}, {"of groups", strings.Join(a.Groups, ", ")}}
	}
	for _, e := range a.Escalations {
		facts = append(facts, [2]string{"escalates", "from " + words.Moment(e.At) + " members of " + strings.Join(e.Groups, ", ") + " may decide for " + strings.Join(e.For, ", ")})
	}
	for _, why := range a.Reasons {
		facts = append(facts, [2]string{"asked because", why})
	}
	if len(a.Decisions) < 2 && a.Status != countersign.ApprovalPending {
		return facts // the status shows it
	}
	for _, d := range a.Decisions {
		left := map[bool]string{true: "; may not decide it any more, doesn't count"}[d.Left]
		facts = append(facts, [2]string{"decided", words.Decided(string(d.Decision), words.Called(d.By, d.ByName), d.At, words.DecidedBecause(d.By, d.Reason)) + stoodIn(d) + left})
		facts = append(facts, runs.MemberFacts(request.Unlisted(d, "decision", "by", "byName", "reason", "at", "onBehalfOf", "escalated", "left", "assertion"))...)
		if d.Assertion != nil {
			facts = append(facts, [2]string{"", "signed with the passkey " + d.Assertion.CredentialID})
		}
	}
	return facts
}

// stoodIn says in whose place a decision was given.
func stoodIn(d countersign.GivenDecision) (text string) {
	if len(d.OnBehalfOf) > 0 {
		text = "; in place of " + words.Plain(strings.Join(d.OnBehalfOf, ", "))
	}
	if len(d.Escalated) > 0 {
		text += "; as a member of " + strings.Join(d.Escalated, ", ") + ", to whom it had escalated"
	}
	return text
}

// makerFacts names the creators of the tokens, or of the sign-in links of the sessions, that
// requested and decided.
func makerFacts(a *countersign.Approval) [][2]string {
	shared := ""
	if a.SharedMaker {
		shared = "both go back to one maker: one person may have asked and decided"
	}
	return [][2]string{{"asker made by", strings.Join(a.RequestedByMakers, ", ")}, {"decider made by", strings.Join(a.DecidedByMakers, ", ")}, {"four eyes", shared}}
}
