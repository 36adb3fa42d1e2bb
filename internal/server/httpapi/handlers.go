package httpapi

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
)

// The handlers take a decoded call to its use case; they decide nothing.

func (a *API) listModels(c *call) (any, error) {
	p, err := a.control.Models(c.ctx, c.actor, c.list)
	return listed(p, err)
}

func (a *API) getModel(c *call) (any, error) { return a.control.Model(c.ctx, c.actor, c.id) }

func (a *API) putModel(c *call) (any, error) {
	return a.control.PutModel(c.ctx, c.actor, c.id, bodyOf[countersign.ModelWrite](c))
}

func (a *API) validateModel(c *call) (any, error) {
	return a.control.ValidateModel(c.ctx, c.actor, c.id)
}

func (a *API) simulate(c *call) (any, error) {
	return a.control.Simulate(c.ctx, c.actor, c.id, bodyOf[countersign.SimulationRequest](c))
}

func (a *API) compilePlan(c *call) (any, error) {
	return a.control.CompilePlan(c.ctx, c.actor, c.id, bodyOf[countersign.CompileRequest](c))
}

func (a *API) suspendModel(c *call) (any, error) {
	return a.control.SuspendModel(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) resumeModel(c *call) (any, error) {
	return a.control.ResumeModel(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) listProjects(c *call) (any, error) {
	p, err := a.control.Projects(c.ctx, c.actor, c.list)
	return listed(p, err)
}

func (a *API) getProject(c *call) (any, error) { return a.control.Project(c.ctx, c.actor, c.id) }

func (a *API) putProject(c *call) (any, error) {
	return a.control.PutProject(c.ctx, c.actor, c.id, bodyOf[countersign.ProjectWrite](c))
}

func (a *API) checkHealth(c *call) (any, error) { return a.control.CheckHealth(c.ctx, c.actor, c.id) }

func (a *API) recordConformance(c *call) (any, error) {
	return a.control.RecordConformance(c.ctx, c.actor, c.id, bodyOf[countersign.ConformanceWrite](c))
}

func (a *API) enableProject(c *call) (any, error) {
	return a.control.EnableProject(c.ctx, c.actor, c.id, bodyOf[countersign.Toggle](c))
}

func (a *API) disableProject(c *call) (any, error) {
	return a.control.DisableProject(c.ctx, c.actor, c.id, bodyOf[countersign.Toggle](c))
}

func (a *API) createPlan(c *call) (any, error) {
	return a.control.CreatePlan(c.ctx, c.actor, bodyOf[countersign.PlanWrite](c))
}

func (a *API) listPlans(c *call) (any, error) {
	return pageOf(control.ListPlans(c.ctx, a.control, c.actor, c.list, control.PlanFilter{Status: c.query["status"], ModelID: c.query["modelId"]}, bounded))
}

func (a *API) getPlan(c *call) (any, error) { return a.control.Plan(c.ctx, c.actor, c.id) }

func (a *API) drift(c *call) (any, error) { return a.control.Drift(c.ctx, c.actor, c.id) }

func (a *API) startRun(c *call) (any, error) {
	started, err := a.control.StartRun(c.ctx, c.actor, bodyOf[countersign.RunStart](c).PlanID, c.key)
	return c.started(started, err)
}

// started answers the start of a run, and says when an earlier one made it.
func (c *call) started(s control.Started, err error) (any, error) {
	if err == nil && s.Replayed {
		c.w.Header().Set("Idempotency-Replayed", "true")
	}
	return s.Run, err
}

func (a *API) listRuns(c *call) (any, error) {
	return pageOf(control.ListRuns(c.ctx, a.control, c.actor, c.list, control.RunFilter{Status: c.query["status"], PlanID: c.query["planId"]}, bounded))
}

func (a *API) getRun(c *call) (any, error) { return a.control.Run(c.ctx, c.actor, c.id) }

func (a *API) rehearsal(c *call) (any, error) { return a.control.Rehearsal(c.ctx, c.actor, c.id) }

// runReceipt answers with the very bytes that were signed.
func (a *API) runReceipt(c *call) (any, error) {
	doc, err := a.control.Receipt(c.ctx, c.actor, c.id)
	return written{doc}, err
}

func (a *API) cancelRun(c *call) (any, error) {
	return a.control.CancelRun(c.ctx, c.actor, c.id, bodyOf[countersign.Reason](c).Reason)
}

func (a *API) reconcileRun(c *call) (any, error) {
	return a.control.ReconcileRun(c.ctx, c.actor, c.id, bodyOf[countersign.Reconcile](c))
}

func (a *API) probeRun(c *call) (any, error) {
	return a.control.Probe(c.ctx, c.actor, c.id, bodyOf[countersign.ProbeStart](c).StepID)
}

func (a *API) listApprovals(c *call) (any, error) {
	p, err := a.control.Approvals(c.ctx, c.actor, c.list, control.ApprovalFilter{Status: c.query["status"], RunID: c.query["runId"]})
	return listed(p, err)
}

func (a *API) getApproval(c *call) (any, error) { return a.control.Approval(c.ctx, c.actor, c.id) }

func (a *API) decide(c *call) (any, error) {
	return a.control.Decide(c.ctx, c.actor, c.id, bodyOf[countersign.Decision](c))
}

func (a *API) listTenants(c *call) (any, error) {
	p, err := a.control.Tenants(c.ctx, c.actor, c.list)
	return listed(p, err)
}

func (a *API) putTenant(c *call) (any, error) {
	return a.control.PutTenant(c.ctx, c.actor, c.id, bodyOf[countersign.TenantWrite](c))
}

func (a *API) listUsers(c *call) (any, error) {
	p, err := a.control.Users(c.ctx, c.actor, c.list, c.query["tenantId"])
	return listed(p, err)
}

func (a *API) putUser(c *call) (any, error) {
	return a.control.PutUser(c.ctx, c.actor, c.r.PathValue("email"), bodyOf[countersign.UserWrite](c))
}

func (a *API) deleteUser(c *call) (any, error) {
	return a.control.DeleteUser(c.ctx, c.actor, c.r.PathValue("email"), c.query["tenantId"])
}

func (a *API) listTokens(c *call) (any, error) {
	p, err := a.control.Tokens(c.ctx, c.actor, c.list, c.query["tenantId"])
	return listed(p, err)
}

func (a *API) createToken(c *call) (any, error) {
	return a.control.CreateToken(c.ctx, c.actor, bodyOf[countersign.TokenWrite](c))
}

func (a *API) revokeToken(c *call) (any, error) {
	return a.control.RevokeToken(c.ctx, c.actor, c.id, c.query["tenantId"])
}

func (a *API) confirmToken(c *call) (any, error) {
	return a.control.ConfirmToken(c.ctx, c.actor, c.id)
}

func auditFilter(c *call) audit.Filter {
	f := audit.Filter{Subject: c.query["subject"], Actor: c.query["actor"], Action: c.query["action"]}
	if since := c.query["since"]; since != "" {
		f.Since, _ = time.Parse(time.RFC3339, since) // readQuery has checked it
	}
	return f
}

func (a *API) listAudit(c *call) (any, error) {
	p, err := a.control.Audit(c.ctx, c.actor, c.list, auditFilter(c), c.query["realm"] == "true")
	return listed(p, err)
}

func (a *API) verifyAudit(c *call) (any, error) {
	return a.control.VerifyAudit(c.ctx, c.actor, c.query["realm"] == "true")
}
