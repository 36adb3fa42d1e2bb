package console

import (
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// Starting a run of one capability by an agent (contract 7).

type agentRunData struct {
	Agent      countersign.Agent
	Project    countersign.Project
	Capability *countersign.Capability
	Fixed      []fixedInput
	Key        string
	Mode       field
	Inputs     []field
	Expected   []field
	Problem    *problem
}

func agentRunPage(v *pageRequest) (*page, error) { return v.agentRunAgain(nil) }

// toRun reads the agent and the capability that the address names.
func (v *pageRequest) toRun() (a countersign.Agent, p countersign.Project, c *countersign.Capability, err error) {
	if err = v.may(access.StartAgentRun); err != nil {
		return a, p, nil, err
	}
	whole, err := v.control.Agent(v.r.Context(), v.actor, v.r.PathValue("id"))
	if err != nil {
		return a, p, nil, err
	}
	a = whole.AgentRecord
	if p, err = v.control.Project(v.r.Context(), v.actor, a.ProjectID); err != nil {
		return a, p, nil, err
	}
	if c = p.Capability(v.query("capability")); c == nil {
		err = countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, v.query("capability"))
	}
	return a, p, c, err
}

func (v *pageRequest) agentRunAgain(err error) (*page, error) {
	a, p, c, unread := v.toRun()
	if unread != nil {
		return nil, unread
	}
	s := v.formOf(err, "")
	d := agentRunData{Agent: a, Project: p, Capability: c, Key: v.startKey(err), Mode: s.mode(p.Enabled), Inputs: s.inputs(c, a.ExecutorInputs[c.Name]), Expected: s.expectation(nil, expectationHint(c))}
	for _, one := range agentCapabilities(a, p, true) {
		if one.Name == c.Name {
			d.Fixed = one.Fixed
		}
	}
	d.Problem = s.problem()
	crumbs := []crumb{{Word: "Agents", Href: "/agents"}, {Word: a.Name, Href: "/agents/" + a.ID}, {Word: "Run " + c.Name}}
	return &page{name: "agent-run", Title: "Run " + c.Name, Nav: "agents", Crumbs: crumbs, Data: d}, nil
}

// startKey is the form's idempotency key: sending the form twice starts one run. A
// refused start keeps its key, except when the key belongs to another request.
func (v *pageRequest) startKey(err error) string {
	if typed := v.form("key"); typed != "" && countersign.ErrorCode(err) != countersign.CodeIdempotencyConflict {
		return typed
	}
	return v.cfg.NewID("start")
}

// mode is the choice between DRY_RUN and LIVE. Neither is preset.
func (s *form) mode(enabled bool) field {
	live := "Steps are sent. Those that ask for approval wait for an approver’s decision."
	if !enabled {
		live = "Not now: the project is disabled, an admin enables it."
	}
	return must(s.choose("radio", "mode", "Mode", "", "",
		choice{Value: countersign.ModeDryRun, Word: "DRY_RUN", Note: "Nothing is sent and nobody is asked. The run shows the exact requests."},
		choice{Value: countersign.ModeLive, Word: "LIVE", Note: live}))
}

func expectationHint(c *countersign.Capability) string {
	if c.Expectation != nil {
		return "Judged besides what the capability expects: " + wants(countersign.Expectations(c, nil)) + ". Empty: by that alone. $ is the whole output."
	}
	return "A LIVE run needs it: an answer of 200 proves nothing. $ is the whole output."
}

// expectation are the fields of an expectation, with the stored one, nil for none.
func (s *form) expectation(e *countersign.Expectation, hint string) []field {
	return s.expectationAt("expectation", e, hint)
}

func (s *form) expectationAt(at string, e *countersign.Expectation, hint string) []field {
	var name, equals, status string
	if e != nil {
		name, equals = e.Field, e.Equals.Raw()
		if e.StatusCode != 0 {
			status = strconv.FormatInt(e.StatusCode, 10)
		}
	}
	return []field{
		s.mono(at+".field", "Field of the output", hint, name),
		s.mono(at+".equals", "Must equal", "As JSON, such as \"succeeded\" or 249.00; numbers are compared by exact value.", equals),
		s.mono(at+".statusCode", "HTTP status", "200 to 299, where it matters.", status),
	}
}

// typedExpectation reads the expectation from the form; nil if all its fields are
// empty.
func (v *pageRequest) typedExpectation() (*countersign.Expectation, error) {
	return v.typedExpectationAt("expectation")
}

func (v *pageRequest) typedExpectationAt(at string) (*countersign.Expectation, error) {
	field, equals, status := v.form(at+".field"), v.form(at+".equals"), v.form(at+".statusCode")
	if field == "" && equals == "" && status == "" {
		return nil, nil
	}
	e := &countersign.Expectation{Field: field}
	if field == "" {
		return nil, invalid(at+".field", "say which field")
	}
	if err := exactjson.Decode([]byte(equals), &e.Equals); err != nil {
		return nil, invalid(at+".equals", "write JSON, such as \"succeeded\" or 249.00")
	}
	if status != "" {
		n, err := strconv.ParseInt(status, 10, 64)
		if err != nil || n < 200 || n > 299 {
			return nil, invalid(at+".statusCode", "a whole number from 200 to 299")
		}
		e.StatusCode = n
	}
	return e, nil
}

func startAgentRun(v *pageRequest) (string, error) {
	a, _, c, err := v.toRun()
	if err != nil {
		return "", err
	}
	run, err := v.runAgent(a, c)
	if err == nil {
		return "/runs/" + run, nil
	}
	return "", v.formAgain(err, (*pageRequest).agentRunAgain)
}

func (v *pageRequest) runAgent(a countersign.Agent, c *countersign.Capability) (runID string, err error) {
	start := countersign.AgentRunStart{ExpectedRevision: v.formRevision(), Mode: v.form("mode"), Capability: c.Name}
	var unfit, unclear error
	start.Inputs, unfit = v.typedInputs(c, a.ExecutorInputs[c.Name])
	start.Expectation, unclear = v.typedExpectation()
	if err := together(unfit, unclear, v.chosen("mode")); err != nil {
		return "", err
	}
	started, err := v.control.StartAgentRun(v.r.Context(), v.actor, a.ID, start, v.startKey(nil))
	return started.Run.ID, err
}
