package agents

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/plans"
	"github.com/countersign/countersign/internal/server/console/projects"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// An agent's manifest by form: what its system would sync. It makes the agent wait for an
// admin again, as each sync of a changed manifest does.

type agentFormData struct {
	Project countersign.Project
	Agent   countersign.Agent // the stored one; zero for a new agent
	To      string            // where the form goes
	Head    []form.Field
	Find    string
	More    int // capabilities that the search leaves out
	Allowed form.Field
	Fixed   []fixedForm
	JSON    string // the same as a document
	Problem *web.Problem
}

// fixedForm are the inputs of a ticked capability that may be fixed.
type fixedForm struct {
	Capability string
	Fields     []form.Field
}

// Any reports whether something is fixed, or wrong.
func (f fixedForm) Any() bool {
	return slices.ContainsFunc(f.Fields, func(b form.Field) bool { return b.Value != "" && b.Value != "{}" || b.Wrong != "" })
}

// manifestForm reads and shows the manifest of one agent.
type manifestForm struct {
	v       *web.Request
	project countersign.Project
	agent   countersign.Agent
}

func fixedField(capability string) string { return "executorInputs." + capability }

func newAgentPage(v *web.Request) (*web.Page, error) {
	f, err := newManifest(v)
	if err != nil {
		return nil, err
	}
	v.R.PostForm = url.Values{"sourceRevision": {"1"}}
	return f.page(nil)
}

func newManifest(v *web.Request) (*manifestForm, error) {
	if err := v.May(access.SyncAgents); err != nil {
		return nil, err
	}
	p, err := v.Control.Project(v.R.Context(), v.Actor, v.R.PathValue("id"))
	return &manifestForm{v: v, project: p}, err
}

func storedManifest(v *web.Request) (*manifestForm, error) {
	if err := v.May(access.SyncAgents); err != nil {
		return nil, err
	}
	a, err := v.Control.Agent(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p, err := v.Control.Project(v.R.Context(), v.Actor, a.ProjectID)
	return &manifestForm{v: v, project: p, agent: a.AgentRecord}, err
}

func agentFormPage(v *web.Request) (*web.Page, error) {
	f, err := storedManifest(v)
	if err != nil {
		return nil, err
	}
	if !f.write() {
		return nil, countersign.Errorf(countersign.CodeStateConflict, "agent %s has something that a form can't show, such as a capability that is gone or a fixed input that is an empty text; sync its manifest with the API or `countersign agents sync`", f.agent.ID)
	}
	return f.page(nil)
}

// write puts the stored agent into the form, and reports whether the form has all of it.
func (f *manifestForm) write() bool {
	a := f.agent
	posted := url.Values{
		"name": {a.Name}, "role": {a.Role}, "goal": {a.Goal}, "modelId": {a.ModelID}, "capabilities": a.Capabilities,
		"sourceRevision": {strconv.FormatInt(a.SourceRevision+1, 10)},
	}
	for name, fixed := range a.ExecutorInputs {
		c := f.project.Capability(name)
		switch {
		case c == nil:
			return false
		case c.InputSchema == nil:
			posted.Set(fixedField(name), text.Pretty(countersign.ObjectValue(fixed)))
		default:
			for input, value := range fixed {
				posted.Set(fixedField(name)+"."+input, form.TypedText(form.TypesOf(c.InputSchema[input]), value))
			}
		}
	}
	f.v.R.PostForm = posted
	again, wrong := f.typed()
	return wrong == nil && text.RawOf(again.ExecutorInputs) == text.RawOf(a.ExecutorInputs) && slices.Equal(again.Capabilities, a.Capabilities)
}

func (f *manifestForm) page(err error) (*web.Page, error) {
	v := f.v
	models, unread := plans.ModelChoices(v, v.Form("modelId"))
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "agents[0]")
	s.Filled = true
	d := agentFormData{Project: f.project, Agent: f.agent, To: "/projects/" + f.project.ID + "/agent", Find: v.Form("find")}
	title, nav := "New agent", "projects"
	crumbs := projects.Crumbs(f.project.ID, web.Crumb{Word: title})
	if f.agent.ID == "" {
		d.Head = append(d.Head, form.Must(s.Mono("externalAgentId", "ID in its system", "Stable: the system’s own name for the agent.", "")))
	} else {
		d.To, title, nav = "/agents/"+f.agent.ID+"/edit", "Edit "+f.agent.Name, "agents"
		crumbs = []web.Crumb{{Word: "Agents", Href: "/agents"}, {Word: f.agent.Name, Href: "/agents/" + f.agent.ID}, {Word: "Edit"}}
	}
	choices := []form.Choice{{Word: "none"}}
	for _, m := range models {
		choices = append(choices, form.Choice{Value: m.Value, Word: m.Word})
	}
	d.Head = append(d.Head,
		form.Must(s.Line("name", "Name", "", "")), form.Must(s.Line("role", "Role", "What it is, such as pays refunds.", "")),
		form.Must(s.Line("goal", "Goal", "What it is for.", "")),
		s.Choose("select", "modelId", "Model", "A team’s agents need models. Agents of another system can’t use the same one.", "", choices...),
		form.Must(s.Mono("sourceRevision", "Source revision", "Higher than the current one. The system’s next sync must be higher still, or all of it is refused.", "")))
	d.Allowed, d.More = f.allowed(s)
	d.Fixed = f.fixed(s)
	m, _ := f.typed()
	d.JSON = text.Pretty(countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{m}})
	d.Problem = s.Problem()
	return &web.Page{Name: "agent-form", Title: title, Nav: nav, Crumbs: crumbs, Data: d}, nil
}

// capabilityChoices is how many capabilities that aren't ticked a form shows.
const capabilityChoices = 50

// allowed are the ticked capabilities, and those that the search finds.
func (f *manifestForm) allowed(s *form.Form) (b form.Field, more int) {
	var choices []form.Choice
	on, shown := f.v.R.PostForm["capabilities"], 0
	for i := range f.project.Capabilities {
		c := &f.project.Capabilities[i]
		ticked := slices.Contains(on, c.Name)
		switch {
		case !ticked && !form.Mentions(c, f.v.Form("find")):
			continue
		case !ticked && shown >= capabilityChoices:
			more++
			continue
		case !ticked:
			shown++
		}
		choices = append(choices, form.Choice{Value: c.Name, Word: c.Method + " " + c.Path, Note: text.AskingWords(c)})
	}
	return form.Coded(s.Boxes("capabilities", "Capabilities that it may use", "", nil, choices...)), more
}

// fixed are the inputs of ticked capabilities.
func (f *manifestForm) fixed(s *form.Form) (out []fixedForm) {
	for _, name := range f.v.R.PostForm["capabilities"] {
		c := f.project.Capability(name)
		if c == nil {
			continue
		}
		one := fixedForm{Capability: name, Fields: s.InputsAt(fixedField(name), steps.Loosened(c), nil, nil)}
		if len(one.Fields) > 0 && (len(out) < steps.MaxBuiltSteps || one.Any()) { // what is fixed is always shown, or saving would lose it
			out = append(out, one)
		}
	}
	return out
}

// typed reads the form, as far as it can be read.
func (f *manifestForm) typed() (a countersign.ManifestAgent, wrong error) {
	v := f.v
	a = countersign.ManifestAgent{
		ExternalAgentID: cmp.Or(f.agent.ExternalAgentID, v.Form("externalAgentId")), Name: v.Form("name"), Role: v.Form("role"), Goal: v.Form("goal"),
		Capabilities: append([]string{}, v.R.PostForm["capabilities"]...), ExecutorInputs: map[string]map[string]countersign.Value{}, ModelID: v.Form("modelId"),
	}
	for _, name := range a.Capabilities {
		c := f.project.Capability(name)
		if c == nil {
			wrong = web.Together(wrong, web.Invalid("capabilities", "the project has no capability %s", name))
			continue
		}
		fixed, err := form.TypedInputsAt(v, fixedField(name), steps.Loosened(c), nil)
		if wrong = web.Together(wrong, err); len(fixed) > 0 {
			a.ExecutorInputs[name] = fixed
		}
	}
	n, err := strconv.ParseInt(v.Form("sourceRevision"), 10, 64)
	if a.SourceRevision = n; err != nil || n < 0 {
		wrong = web.Together(wrong, web.Invalid("sourceRevision", "a whole number, 0 or more"))
	}
	return a, wrong
}

func makeAgent(v *web.Request) (string, error) {
	f, err := newManifest(v)
	if err != nil {
		return "", err
	}
	return f.act(v.Chosen("externalAgentId", "name", "role", "goal"))
}

func changeAgent(v *web.Request) (string, error) {
	f, err := storedManifest(v)
	if err != nil {
		return "", err
	}
	return f.act(v.Chosen("name", "role", "goal"))
}

// act updates the form or syncs the agent.
func (f *manifestForm) act(missing error) (string, error) {
	if f.v.Form("do") != "save" {
		return "", web.ShownAgain(f.page)
	}
	a, err := f.typed()
	if err = web.Together(missing, err); err == nil {
		m := countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{a}}
		var synced []countersign.Agent
		if synced, err = f.v.Control.SyncAgents(f.v.R.Context(), f.v.Actor, f.project.ID, m); err == nil {
			return "/agents/" + synced[0].ID, nil
		}
	}
	return "", web.FormAgain(err, f.page)
}
