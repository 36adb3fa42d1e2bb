package control

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/ledger"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// Sensitive input and output fields are masked for whoever only views (contract
// 5): reviewers must see what they approve.

var masked = countersign.String("•••")

// masks reports an actor who sees sensitive fields masked: a VIEWER and nothing
// else.
func masks(a Actor) bool {
	return len(a.Roles) > 0 && !slices.ContainsFunc(a.Roles, func(r countersign.Role) bool { return r != countersign.RoleViewer })
}

// maskFor masks the run's steps where the actor must not see them.
func (s *Service) maskFor(tx store.Tx, a Actor, r *countersign.Run) error {
	if !masks(a) {
		return nil
	}
	p, err := s.ledger.Plan(tx, a.Tenant, r.PlanID, r.PlanDigest)
	if err != nil {
		return err
	}
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		if fields := sensitiveOf(p, r.Steps[i].ProjectID, r.Steps[i].Capability); len(fields) > 0 {
			maskStep(&r.Steps[i], fields)
		}
	}
	maskPlan(r.PlanSnapshot, p)
	return nil
}

func (s *Service) maskApproval(tx store.Tx, a Actor, ap *countersign.Approval) error {
	if !masks(a) {
		return nil
	}
	stored, _, err := records.Plans.Get(tx, a.Tenant, ap.PlanID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := ledger.WithProjects(tx, a.Tenant, stored.Plan)
	if err != nil {
		return err
	}
	if fields := sensitiveOf(&p, ap.ProjectID, ap.Capability); len(fields) > 0 {
		ap.InputSnapshot = maskInput(ap.InputSnapshot, fields)
		ap.Request = *maskRequest(&ap.Request, fields)
	}
	return nil
}

func sensitiveOf(p *countersign.Plan, projectID, capability string) []string {
	for i := range p.ProjectSnapshots {
		if p.ProjectSnapshots[i].ID != projectID {
			continue
		}
		if c := p.ProjectSnapshots[i].Capability(capability); c != nil {
			return c.Sensitive
		}
	}
	return nil
}

func maskPlan(shown, p *countersign.Plan) {
	if shown == nil {
		return
	}
	shown.Steps = slices.Clone(shown.Steps)
	for i := range shown.Steps {
		if fields := sensitiveOf(p, shown.Steps[i].ProjectID, shown.Steps[i].Capability); len(fields) > 0 {
			shown.Steps[i].Input = maskInput(shown.Steps[i].Input, fields)
		}
	}
}

func maskStep(s *countersign.StepRun, fields []string) {
	s.Input = maskInput(s.Input, fields)
	s.Request = maskRequest(s.Request, fields)
	s.Output = maskValue(s.Output, fields)
	if s.Verification != nil && slices.Contains(fields, firstPart(s.Verification.Field)) {
		v := *s.Verification
		v.Expected, v.Actual = masked, masked
		s.Verification = &v
		s.Error = maskError(s.Error)
	}
	if s.Late != nil {
		late := *s.Late
		late.Output = maskValue(late.Output, fields)
		s.Late = &late
	}
	s.Probes = slices.Clone(s.Probes)
	for i := range s.Probes {
		s.Probes[i].Output = maskValue(s.Probes[i].Output, fields)
		s.Probes[i].Request = maskRequest(s.Probes[i].Request, fields)
	}
}

func firstPart(field string) string {
	head, _, _ := strings.Cut(field, ".")
	return head
}

// maskError keeps the code: the message may quote the value.
func maskError(e *countersign.StepError) *countersign.StepError {
	if e == nil {
		return nil
	}
	return &countersign.StepError{Code: e.Code, Message: masked.Text()}
}

func maskInput(m map[string]countersign.Value, fields []string) map[string]countersign.Value {
	out := make(map[string]countersign.Value, len(m))
	for k, v := range m {
		if slices.Contains(fields, k) {
			v = masked
		}
		out[k] = v
	}
	return out
}

func maskValue(v countersign.Value, fields []string) countersign.Value {
	m, ok := v.Object()
	if !ok || !slices.ContainsFunc(fields, func(f string) bool { _, has := m[f]; return has }) {
		return v
	}
	return countersign.ObjectValue(maskInput(m, fields))
}

func maskRequest(r *countersign.Request, fields []string) *countersign.Request {
	if r == nil {
		return nil
	}
	out := *r
	out.Query, out.Body = maskValue(r.Query, fields), maskValue(r.Body, fields)
	if u, err := url.Parse(r.URL); err == nil && !out.Query.Equal(r.Query) {
		u.RawQuery = ""
		out.URL = u.String() + "?" + masked.Text()
	}
	return &out
}
