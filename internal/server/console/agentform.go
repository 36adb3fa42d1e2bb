package console

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// An agent's manifest by form: what its system would sync. It makes the agent wait for an
// admin again, as each sync of a changed manifest does.

type agentFormData struct {
	Project countersign.Project
	Agent   countersign.Agent // the stored one; zero for a new agent
	To      string            // where the form goes
	Head    []field
	Find    string
	More    int // capabilities that the search leaves out
	Allowed field
	Fixed   []fixedForm
	JSON    string // the same as a document
	Problem *problem
}

// fixedForm are the inputs of a ticked capability that may be fixed.
type fixedForm struct {
	Capability string
	Fields     []field
}

// Any reports whether something is fixed, or wrong.
func (f fixedForm) Any() bool {
	return slices.ContainsFunc(f.Fields, func(b field) bool { return b.Value != "" && b.Value != "{}" || b.Wrong != "" })
}

// manifestForm reads and shows the manifest of one agent.
type manifestForm struct {
	v       *pageRequest
	project countersign.Project
	agent   countersign.Agent
}

func fixedField(capability string) string { return "executorInputs." + capability }

func newAgentPage(v *pageRequest) (*page, error) {
	f, err := v.newManifest()
	if err != nil {
		return nil, err
	}
	v.r.PostForm = url.Values{"sourceRevision": {"1"}}
	return f.page(nil)
}

func (v *pageRequest) newManifest() (*manifestForm, error) {
	if err := v.may(access.SyncAgents); err != nil {
		return nil, err
	}
	p, err := v.control.Project(v.r.Context(), v.actor, v.r.PathValue("id"))
	return &manifestForm{v: v, project: p}, err
}

func (v *pageRequest) storedManifest() (*manifestForm, error) {
	if err := v.may(access.SyncAgents); err != nil {
		return nil, err
	}
	a, err := v.control.Agent(v.r.Context(), v.actor, v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p, err := v.control.Project(v.r.Context(), v.actor, a.ProjectID)
	return &manifestForm{v: v, project: p, agent: a.AgentRecord}, err
}

func agentFormPage(v *pageRequest) (*page, error) {
	f, err := v.storedManifest()
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
	form := url.Values{
		"name": {a.Name}, "role": {a.Role}, "goal": {a.Goal}, "modelId": {a.ModelID}, "capabilities": a.Capabilities,
		"sourceRevision": {strconv.FormatInt(a.SourceRevision+1, 10)},
	}
	for name, fixed := range a.ExecutorInputs {
		c := f.project.Capability(name)
		switch {
		case c == nil:
			return false
		case c.InputSchema == nil:
			form.Set(fixedField(name), pretty(countersign.ObjectValue(fixed)))
		default:
			for input, value := range fixed {
				form.Set(fixedField(name)+"."+input, typedText(typesOf(c.InputSchema[input]), value))
			}
		}
	}
	f.v.r.PostForm = form
	again, wrong := f.typed()
	return wrong == nil && rawOf(again.ExecutorInputs) == rawOf(a.ExecutorInputs) && slices.Equal(again.Capabilities, a.Capabilities)
}

func (f *manifestForm) page(err error) (*page, error) {
	v := f.v
	models, unread := v.modelChoices(v.form("modelId"))
	if unread != nil {
		return nil, unread
	}
	s := v.formOf(err, "agents[0]")
	s.filled = true
	d := agentFormData{Project: f.project, Agent: f.agent, To: "/projects/" + f.project.ID + "/agent", Find: v.form("find")}
	title, nav := "New agent", "projects"
	crumbs := projectCrumbs(f.project.ID, crumb{Word: title})
	if f.agent.ID == "" {
		d.Head = append(d.Head, must(s.mono("externalAgentId", "ID in its system", "Stable: the system’s own name for the agent.", "")))
	} else {
		d.To, title, nav = "/agents/"+f.agent.ID+"/edit", "Edit "+f.agent.Name, "agents"
		crumbs = []crumb{{Word: "Agents", Href: "/agents"}, {Word: f.agent.Name, Href: "/agents/" + f.agent.ID}, {Word: "Edit"}}
	}
	choices := []choice{{Word: "none"}}
	for _, m := range models {
		choices = append(choices, choice{Value: m.Value, Word: m.Word})
	}
	d.Head = append(d.Head,
		must(s.line("name", "Name", "", "")), must(s.line("role", "Role", "What it is, such as pays refunds.", "")),
		must(s.line("goal", "Goal", "What it is for.", "")),
		s.choose("select", "modelId", "Model", "A team’s agents need models. Agents of another system can’t use the same one.", "", choices...),
		must(s.mono("sourceRevision", "Source revision", "Higher than the current one. The system’s next sync must be higher still, or all of it is refused.", "")))
	d.Allowed, d.More = f.allowed(s)
	d.Fixed = f.fixed(s)
	m, _ := f.typed()
	d.JSON = pretty(countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{m}})
	d.Problem = s.problem()
	return &page{name: "agent-form", Title: title, Nav: nav, Crumbs: crumbs, Data: d}, nil
}

// capabilityChoices is how many capabilities that aren't ticked a form shows.
const capabilityChoices = 50

// allowed are the ticked capabilities, and those that the search finds.
func (f *manifestForm) allowed(s *form) (b field, more int) {
	var choices []choice
	on, shown := f.v.r.PostForm["capabilities"], 0
	for i := range f.project.Capabilities {
		c := &f.project.Capabilities[i]
		ticked := slices.Contains(on, c.Name)
		switch {
		case !ticked && !mentions(c, f.v.form("find")):
			continue
		case !ticked && shown >= capabilityChoices:
			more++
			continue
		case !ticked:
			shown++
		}
		choices = append(choices, choice{Value: c.Name, Word: c.Method + " " + c.Path, Note: askingWords(c)})
	}
	return coded(s.boxes("capabilities", "Capabilities that it may use", "", nil, choices...)), more
}

// fixed are the inputs of ticked capabilities.
func (f *manifestForm) fixed(s *form) (out []fixedForm) {
	for _, name := range f.v.r.PostForm["capabilities"] {
		c := f.project.Capability(name)
		if c == nil {
			continue
		}
		one := fixedForm{Capability: name, Fields: s.inputsAt(fixedField(name), loosened(c), nil, nil)}
		if len(one.Fields) > 0 && (len(out) < maxBuiltSteps || one.Any()) { // what is fixed is always shown, or saving would lose it
			out = append(out, one)
		}
	}
	return out
}

// typed reads the form, as far as it can be read.
func (f *manifestForm) typed() (a countersign.ManifestAgent, wrong error) {
	v := f.v
	a = countersign.ManifestAgent{
		ExternalAgentID: cmp.Or(f.agent.ExternalAgentID, v.form("externalAgentId")), Name: v.form("name"), Role: v.form("role"), Goal: v.form("goal"),
		Capabilities: append([]string{}, v.r.PostForm["capabilities"]...), ExecutorInputs: map[string]map[string]countersign.Value{}, ModelID: v.form("modelId"),
	}
	for _, name := range a.Capabilities {
		c := f.project.Capability(name)
		if c == nil {
			wrong = together(wrong, invalid("capabilities", "the project has no capability %s", name))
			continue
		}
		fixed, err := v.typedInputsAt(fixedField(name), loosened(c), nil)
		if wrong = together(wrong, err); len(fixed) > 0 {
			a.ExecutorInputs[name] = fixed
		}
	}
	n, err := strconv.ParseInt(v.form("sourceRevision"), 10, 64)
	if a.SourceRevision = n; err != nil || n < 0 {
		wrong = together(wrong, invalid("sourceRevision", "a whole number, 0 or more"))
	}
	return a, wrong
}

// loosened is a capability without required inputs, for a form in which none is.
func loosened(c *countersign.Capability) *countersign.Capability {
	if c.InputSchema == nil {
		return c
	}
	out := *c
	out.InputSchema = map[string]countersign.InputField{}
	for name, in := range c.InputSchema {
		in.Required = false
		out.InputSchema[name] = in
	}
	return &out
}

func makeAgent(v *pageRequest) (string, error) {
	f, err := v.newManifest()
	if err != nil {
		return "", err
	}
	return f.act(v.chosen("externalAgentId", "name", "role", "goal"))
}

func changeAgent(v *pageRequest) (string, error) {
	f, err := v.storedManifest()
	if err != nil {
		return "", err
	}
	return f.act(v.chosen("name", "role", "goal"))
}

// act updates the form or syncs the agent.
func (f *manifestForm) act(missing error) (string, error) {
	if f.v.form("do") != "save" {
		return "", shownAgain(f.page)
	}
	a, err := f.typed()
	if err = together(missing, err); err == nil {
		m := countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{a}}
		var synced []countersign.Agent
		if synced, err = f.v.control.SyncAgents(f.v.r.Context(), f.v.actor, f.project.ID, m); err == nil {
			return "/agents/" + synced[0].ID, nil
		}
	}
	return "", formAgain(err, f.page)
}
