package httpapi

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
)

// The handlers pass a decoded call to its use case; they decide nothing. Most use cases
// have one of the four signatures below.

func byID[T any](f func(context.Context, control.Actor, string) (T, error)) handler {
	return func(c *call) (any, error) { return f(c.ctx, c.actor, c.id) }
}

func withBody[B, T any](f func(context.Context, control.Actor, string, B) (T, error)) handler {
	return func(c *call) (any, error) { return f(c.ctx, c.actor, c.id, bodyOf[B](c)) }
}

func withReason[T any](f func(context.Context, control.Actor, string, string) (T, error)) handler {
	return func(c *call) (any, error) { return f(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason) }
}

func list[T any](f func(context.Context, control.Actor, control.List) (countersign.Page[T], error)) handler {
	return func(c *call) (any, error) { return listed(f(c.ctx, c.actor, c.list)) }
}

func (a *API) putDelegation(c *call) (any, error) {
	return a.control.PutDelegation(c.ctx, c.actor, c.r.PathValue("email"), bodyOf[countersign.DelegationWrite](c))
}

func (a *API) endDelegation(c *call) (any, error) {
	return a.control.EndDelegation(c.ctx, c.actor, c.r.PathValue("email"))
}

func (a *API) createPlan(c *call) (any, error) {
	return a.control.CreatePlan(c.ctx, c.actor, bodyOf[countersign.PlanWrite](c))
}

func (a *API) listPlans(c *call) (any, error) {
	return pageOf(control.ListPlans(c.ctx, a.control, c.actor, c.list, control.PlanFilter{Status: c.query["status"], ModelID: c.query["modelId"]}, bounded))
}

func (a *API) startRun(c *call) (any, error) {
	return c.started(a.control.StartRun(c.ctx, c.actor, bodyOf[countersign.RunStart](c), c.key))
}

// started responds to the start of a run, and says whether an earlier start made it.
func (c *call) started(s control.Started, err error) (any, error) {
	if err == nil && s.Replayed {
		c.w.Header().Set("Idempotency-Replayed", "true")
	}
	return s.Run, err
}

func (a *API) listRuns(c *call) (any, error) {
	return pageOf(control.ListRuns(c.ctx, a.control, c.actor, c.list, runFilter(c), bounded))
}

func runFilter(c *call) control.RunFilter {
	f := control.RunFilter{
		Status: c.query["status"], PlanID: c.query["planId"], AgentID: c.query["agentId"],
		Text: c.query["q"], Reason: c.query["reason"], Capability: c.query["capability"],
	}
	f.Since, _ = countersign.ParseInstant(c.query["since"]) // readQuery has validated both
	f.Until, _ = countersign.ParseInstant(c.query["until"])
	return f
}

func (a *API) search(c *call) (any, error) {
	return a.control.Search(c.ctx, c.actor, c.query["q"])
}

// runReceipt returns the exact bytes that were signed.
func (a *API) runReceipt(c *call) (any, error) {
	doc, err := a.control.Receipt(c.ctx, c.actor, c.id)
	return written{doc}, err
}

func (a *API) probeRun(c *call) (any, error) {
	return a.control.Probe(c.ctx, c.actor, c.id, bodyOf[countersign.ProbeStart](c).StepID)
}

func (a *API) listApprovals(c *call) (any, error) {
	return pageOf(control.ListApprovals(c.ctx, a.control, c.actor, c.list, approvalFilter(c), bounded))
}

// orderOldest is the order of a list of approvals that needs none of their content.
const orderOldest = "oldest"

func approvalFilter(c *call) control.ApprovalFilter {
	f := control.ApprovalFilter{
		Status: c.query["status"], RunID: c.query["runId"], ProjectID: c.query["projectId"], AgentID: c.query["agentId"],
		RequestedBy: c.query["requestedBy"], Group: c.query["group"], Text: c.query["q"], Order: c.query["order"],
	}
	if f.Order == orderOldest {
		f.OldestFirst, f.Order = true, ""
	}
	return f
}

func (a *API) listUsers(c *call) (any, error) {
	return listed(a.control.Users(c.ctx, c.actor, c.list, c.query["tenantId"]))
}

func (a *API) putUser(c *call) (any, error) {
	return a.control.PutUser(c.ctx, c.actor, c.r.PathValue("email"), bodyOf[countersign.UserWrite](c))
}

func (a *API) deleteUser(c *call) (any, error) {
	return a.control.DeleteUser(c.ctx, c.actor, c.r.PathValue("email"), c.query["tenantId"])
}

func (a *API) createSignInLink(c *call) (any, error) {
	out, secret, err := a.control.CreateLink(c.ctx, c.actor, c.r.PathValue("email"), bodyOf[countersign.SignInLinkWrite](c))
	out.URL = a.linkAddress(secret)
	return out, err
}

func (a *API) linkAddress(secret string) string {
	return a.cfg.BaseURL + "/console/sign-in/link?link=" + secret
}

func (a *API) listTokens(c *call) (any, error) {
	return listed(a.control.Tokens(c.ctx, c.actor, c.list, c.query["tenantId"]))
}

func (a *API) createToken(c *call) (any, error) {
	return a.control.CreateToken(c.ctx, c.actor, bodyOf[countersign.TokenWrite](c))
}

func (a *API) renewToken(c *call) (any, error) {
	return a.control.RenewToken(c.ctx, c.actor)
}

func (a *API) revokeToken(c *call) (any, error) {
	return a.control.RevokeToken(c.ctx, c.actor, c.id, c.query["tenantId"])
}

func auditFilter(c *call) audit.Filter {
	f := audit.Filter{Subject: c.query["subject"], Actor: c.query["actor"], Action: c.query["action"]}
	if since := c.query["since"]; since != "" {
		f.Since, _ = countersign.ParseInstant(since) // readQuery has validated it
	}
	return f
}

func (a *API) listAudit(c *call) (any, error) {
	return listed(a.control.Audit(c.ctx, c.actor, c.list, auditFilter(c), c.query["realm"] == "true"))
}

func (a *API) auditCheckpoint(c *call) (any, error) {
	return a.control.Checkpoint(c.ctx, c.actor, c.query["realm"] == "true")
}

func (a *API) verifyAudit(c *call) (any, error) {
	return a.control.VerifyAudit(c.ctx, c.actor, c.query["realm"] == "true")
}

// syncedAgents is the response of a sync: the manifest's agents, in its order.
type syncedAgents struct {
	Items []countersign.Agent `json:"items" nullable:"false"`
}

func (a *API) syncAgents(c *call) (any, error) {
	items, err := a.control.SyncAgents(c.ctx, c.actor, c.id, bodyOf[countersign.Manifest](c))
	return syncedAgents{items}, err
}

func (a *API) listProjects(c *call) (any, error) {
	return pageOf(control.ListProjects(c.ctx, a.control, c.actor, c.list, bounded))
}

func (a *API) listTeams(c *call) (any, error) {
	return pageOf(control.ListTeams(c.ctx, a.control, c.actor, c.list, bounded))
}

func (a *API) listAgents(c *call) (any, error) {
	return pageOf(control.ListAgents(c.ctx, a.control, c.actor, c.list, control.AgentFilter{ProjectID: c.query["projectId"], Status: c.query["status"]}, bounded))
}

func (a *API) startAgentRun(c *call) (any, error) {
	return c.started(a.control.StartAgentRun(c.ctx, c.actor, c.id, bodyOf[countersign.AgentRunStart](c), c.key))
}

func (a *API) startProjectRun(c *call) (any, error) {
	return c.started(a.control.StartProjectRun(c.ctx, c.actor, c.id, bodyOf[countersign.ProjectRunStart](c), c.key))
}

func (a *API) startTeamRun(c *call) (any, error) {
	return c.started(a.control.StartTeamRun(c.ctx, c.actor, c.id, bodyOf[countersign.TeamRunStart](c), c.key))
}

func (a *API) freeCredential(c *call) (any, error) {
	return a.control.FreeCredential(c.ctx, c.actor, c.r.PathValue("name"), bodyOf[countersign.Reason](c).Reason)
}

func (a *API) budgets(c *call) (any, error) {
	return a.control.Budgets(c.ctx, c.actor, c.query["projectId"], c.query["agentId"])
}
