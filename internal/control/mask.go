package control

import (
	"errors"
	"maps"
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
	of := hiddenIn(p)
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		if h := of.with(r.Steps[i].ID, r.Steps[i].Input); h != nil && h.step(&r.Steps[i]) {
			r.Error = maskedError(r.Error)
		}
	}
	if of.hidesPlan() {
		r.PlanDigest = ""
	}
	if r.PlanSnapshot == nil {
		return nil
	}
	stored, _, err := s.ledger.ReadPlan(tx, a.Tenant, r.PlanID)
	if err != nil {
		return err
	}
	shown := *r.PlanSnapshot
	maskPlan(&shown, of, stored.OpenInputs)
	r.PlanSnapshot = &shown
	return nil
}

// maskPlanFor masks a plan's steps where the actor must not see them. open are its
// planning inputs that feed nothing sensitive.
func maskPlanFor(tx store.Tx, a Actor, p *countersign.Plan, open []string) error {
	if !masks(a) {
		return nil
	}
	whole, err := ledger.WithProjects(tx, a.Tenant, *p)
	if err == nil {
		maskPlan(p, hiddenIn(&whole), open)
	}
	return err
}

// maskPlan masks the steps of the plan that is shown, and what its masked inputs could
// be found out by.
func maskPlan(shown *countersign.Plan, of hiding, open []string) {
	shown.Steps = slices.Clone(shown.Steps)
	for i := range shown.Steps {
		s := &shown.Steps[i]
		h := of.steps[s.ID]
		if h == nil {
			continue
		}
		s.Input, s.Expectation = h.input(s.Input), h.expectation(s.Expectation)
	}
	maskFixed(shown, of.plan)
	if of.hidesPlan() {
		shown.PlanDigest = ""
		shown.PlanningInputs = only(shown.PlanningInputs, open)
	}
}

// only are the inputs of these names.
func only(inputs map[string]countersign.Value, names []string) map[string]countersign.Value {
	out := maps.Clone(inputs)
	maps.DeleteFunc(out, func(name string, _ countersign.Value) bool { return !slices.Contains(names, name) })
	return out
}

func (s *Service) maskApproval(tx store.Tx, a Actor, ap *countersign.Approval) error {
	if !masks(a) {
		return nil
	}
	stored, _, err := records.Plans.Get(tx, a.Tenant, ap.PlanID)
	if errors.Is(err, store.ErrNotFound) {
		(&hidden{whole: true}).approval(ap) // nothing says what of it is sensitive
		return nil
	}
	if err != nil {
		return err
	}
	p, err := ledger.WithProjects(tx, a.Tenant, stored.Plan)
	if err != nil {
		return err
	}
	if h := hiddenIn(&p).with(ap.StepID, ap.InputSnapshot); h != nil {
		h.approval(ap)
	}
	return nil
}

// maskFixed masks the fixed inputs of agents in the plan that is shown.
func maskFixed(shown, p *countersign.Plan) {
	shown.Agents = slices.Clone(shown.Agents)
	for i := range shown.Agents {
		ref := &shown.Agents[i]
		ref.ExecutorInputs = maskedInputs(ref.ExecutorInputs, func(capability string) *hidden { return hiddenFor(p, ref.ProjectID, capability) })
	}
}

// maskedInputs masks inputs by capability name.
func maskedInputs(inputs map[string]map[string]countersign.Value, of func(capability string) *hidden) map[string]map[string]countersign.Value {
	out := maps.Clone(inputs)
	for name, fields := range out {
		if h := of(name); h != nil {
			out[name] = h.input(fields)
		}
	}
	return out
}

// maskAgent masks an agent's fixed inputs by the present contract of its project.
func maskAgent(tx store.Tx, a Actor, ag *countersign.Agent) error {
	if !masks(a) || len(ag.ExecutorInputs) == 0 {
		return nil
	}
	p, err := contractOf(tx, a.Tenant, ag.ProjectID)
	if err == nil {
		ag.ExecutorInputs = maskedInputs(ag.ExecutorInputs, func(capability string) *hidden { return hiddenNow(p, ag.ProjectID, capability) })
	}
	return err
}

// maskTeam masks what the steps of a team give to sensitive inputs.
func maskTeam(tx store.Tx, a Actor, team *countersign.Team) error {
	if !masks(a) {
		return nil
	}
	team.Steps = slices.Clone(team.Steps)
	for i := range team.Steps {
		s := &team.Steps[i]
		head, _, err := records.Agents.Get(tx, a.Tenant, s.AgentID)
		if err != nil {
			return err
		}
		p, err := contractOf(tx, a.Tenant, head.ProjectID)
		if err != nil {
			return err
		}
		if h := hiddenNow(p, head.ProjectID, s.Capability); h != nil {
			s.Input, s.Expectation = h.input(s.Input), h.expectation(s.Expectation)
		}
	}
	return nil
}

// contractOf is a project's present revision, in the form that hiddenFor reads.
func contractOf(tx store.Tx, tenant, projectID string) (*countersign.Plan, error) {
	head, _, err := records.Projects.Get(tx, tenant, projectID)
	if err != nil {
		return nil, err
	}
	p, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(projectID, head.Revision))
	if err != nil {
		return nil, err
	}
	return &countersign.Plan{ProjectSnapshots: []countersign.Project{*p}}, nil
}

// hidden is what a capability, or a step of it, keeps from whoever only views.
type hidden struct {
	project    *countersign.Project
	capability *countersign.Capability
	names      []string // its sensitive fields, and those of its probe; of a step its inputs bound from such
	whole      bool     // every field
	brought    []string // members that are sensitive within the values that a step's bindings bring
}

// hiddenFor is nil where no field of the capability or its probe is sensitive. p
// has its project snapshots.
func hiddenFor(p *countersign.Plan, projectID, capability string) *hidden {
	if h := contractIn(p, projectID, capability); h != nil && len(h.names) > 0 {
		return h
	}
	return nil
}

// contractIn is what a capability keeps, which may be nothing; nil where the plan has
// no such capability.
func contractIn(p *countersign.Plan, projectID, capability string) *hidden {
	for i := range p.ProjectSnapshots {
		project := &p.ProjectSnapshots[i]
		if c := project.Capability(capability); project.ID == projectID && c != nil {
			return &hidden{project: project, capability: c, names: sensitiveOf(project, c)}
		}
	}
	return nil
}

// sensitiveOf names the sensitive fields of a capability and of its probe, whose
// answers are kept on the same step.
func sensitiveOf(p *countersign.Project, c *countersign.Capability) []string {
	names := slices.Clone(c.Sensitive)
	if probe := p.Capability(c.Probe); c.Probe != "" && probe != nil {
		names = append(names, probe.Sensitive...)
	}
	return names
}

// hiddenNow is hiddenFor by a project's present revision, for what was written by
// an earlier one. Of a capability that is gone everything is hidden: nothing says
// any more what of it is sensitive.
func hiddenNow(p *countersign.Plan, projectID, capability string) *hidden {
	for i := range p.ProjectSnapshots {
		if project := &p.ProjectSnapshots[i]; project.ID == projectID && project.Capability(capability) == nil {
			return &hidden{project: project, capability: &countersign.Capability{Name: capability}, whole: true}
		}
	}
	return hiddenFor(p, projectID, capability)
}

func (h *hidden) has(name string) bool {
	return h.whole || slices.Contains(h.names, name)
}

// step masks a step's record and reports whether its error may quote what was
// masked.
func (h *hidden) step(s *countersign.StepRun) (quoted bool) {
	s.Input, s.Request, s.RequestDigest = h.input(s.Input), h.request(s.Request, h.capability), countersign.NoStepDigest
	s.Output, s.Response = h.field(h.capability.OutputField, s.Output), hideAnswer(s.Response)
	if s.Verification != nil {
		v := *s.Verification
		v.Expected, v.Actual = h.field(v.Field, v.Expected), h.field(v.Field, v.Actual)
		quoted = s.Error != nil && (!v.Expected.Equal(s.Verification.Expected) || !v.Actual.Equal(s.Verification.Actual))
		s.Verification = &v
	}
	if quoted {
		s.Error = &countersign.StepError{Code: s.Error.Code, Message: masked.Text()}
	}
	if s.Late != nil {
		late := *s.Late
		late.Output, late.Response = h.members(late.Output), hideAnswer(late.Response)
		s.Late = &late
	}
	s.Probes = slices.Clone(s.Probes)
	for i := range s.Probes {
		probe := &s.Probes[i]
		probe.Response = hideAnswer(probe.Response)
		probe.Output, probe.Request = h.members(probe.Output), h.request(probe.Request, h.project.Capability(probe.Capability))
	}
	return quoted
}

// approval masks an approval, and leaves the digest of what it masked out.
func (h *hidden) approval(ap *countersign.Approval) {
	h.maskAsked(ap, ap.InputSnapshot)
	ap.InputSnapshot, ap.RequestDigest = h.input(ap.InputSnapshot), ""
	ap.Request = *h.request(&ap.Request, h.capability)
}

// hideAnswer leaves out what the body of an answer could be found out by, and hides
// all that a refusal said: it is text, which no field's name leads to.
func hideAnswer(r *countersign.Response) *countersign.Response {
	if r == nil {
		return nil
	}
	out := *r
	out.Bytes, out.BodySHA256 = countersign.NoByteCount, countersign.NoBodyDigest
	if out.Body != "" {
		out.Body = masked.Text()
	}
	return &out
}

// maskedError keeps the code of a run's error, which is that of a step.
func maskedError(text string) string {
	code, _, _ := strings.Cut(text, ": ")
	return code + ": " + masked.Text()
}

func (h *hidden) expectation(e *countersign.Expectation) *countersign.Expectation {
	if e == nil {
		return nil
	}
	out := *e
	out.Equals = h.field(e.Field, e.Equals)
	return &out
}

func (h *hidden) input(m map[string]countersign.Value) map[string]countersign.Value {
	out := make(map[string]countersign.Value, len(m))
	for k, v := range m {
		if h.has(k) {
			out[k] = masked
		} else {
			out[k] = h.members(v)
		}
	}
	return out
}

// members masks the sensitive members of a value, however deep they stand: an
// answer that was kept whole holds what a path would have selected.
func (h *hidden) members(v countersign.Value) countersign.Value {
	if !h.mentions(v) {
		return v // as it was written, to the byte
	}
	if list, ok := v.Array(); ok {
		return countersign.ArrayValue(each(list, h.members))
	}
	m, _ := v.Object()
	out := make(map[string]countersign.Value, len(m))
	for name, member := range m {
		if h.has(name) {
			out[name] = masked
		} else {
			out[name] = h.members(member)
		}
	}
	return countersign.ObjectValue(out)
}

// mentions reports a value with a sensitive member anywhere in it.
func (h *hidden) mentions(v countersign.Value) bool {
	if list, ok := v.Array(); ok {
		return slices.ContainsFunc(list, h.mentions)
	}
	m, _ := v.Object()
	for name, member := range m {
		if h.has(name) || h.mentions(member) {
			return true
		}
	}
	return false
}

func each(list []countersign.Value, f func(countersign.Value) countersign.Value) []countersign.Value {
	out := make([]countersign.Value, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// field masks the value that a field of the output names: all of it where a part
// of the field's path is sensitive, or of the path by which the output itself was
// selected; else its sensitive members.
func (h *hidden) field(name string, v countersign.Value) countersign.Value {
	switch {
	case v.IsZero():
		return v
	case h.on(name), h.on(h.capability.OutputField):
		return masked
	default:
		return h.members(v)
	}
}

// on reports a path that leads through a sensitive field.
func (h *hidden) on(path string) bool {
	return h.has(path) || slices.ContainsFunc(strings.Split(path, "."), h.has)
}

// request masks what is sent by a capability: the step's own, or its probe.
func (h *hidden) request(r *countersign.Request, c *countersign.Capability) *countersign.Request {
	if r == nil {
		return nil
	}
	out := *r
	out.Query, out.Body = h.members(r.Query), h.members(r.Body)
	address, query, _ := strings.Cut(r.URL, "?")
	if c == nil || slices.ContainsFunc(h.names, func(name string) bool { return strings.Contains(c.Path, "{"+name+"}") }) {
		address = masked.Text()
		if c != nil {
			address = origin(r.URL) + c.Path
		}
	}
	switch {
	case !out.Query.Equal(r.Query):
		out.URL = address + "?" + masked.Text()
	case query != "":
		out.URL = address + "?" + query
	default:
		out.URL = address
	}
	return &out
}

// origin is what stands before the path.
func origin(address string) string {
	scheme, rest, hasHost := strings.Cut(address, "://")
	if !hasHost {
		scheme, _, _ = strings.Cut(address, ":") // LOCAL_ECHO
		return scheme + ":"
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}
