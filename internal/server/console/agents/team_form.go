package agents

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// A team made or edited by form: its members, and the steps that they share.

type teamFormData struct {
	Team    countersign.Team // the stored one; zero for a new team
	Saves   int64            // the revision that saving replaces
	To      string           // where the form goes
	Head    []form.Field
	Members []memberRow
	None    string // why there are no members, or what is wrong with them
	Agents  []form.Choice
	Rows    []steps.StepRow
	Offers  steps.StepOffers
	JSON    string // the same as a document
	Over    bool   // revision conflict
	Problem *web.Problem
}

// memberRow is a member as the form shows it.
type memberRow struct {
	N           int
	Agent, Word string
	Role        form.Field
	Wrong       string
}

// maxBuiltMembers is how many members a team may have.
const maxBuiltMembers = 100

func memberField(i int, what string) string { return "members[" + strconv.Itoa(i) + "]." + what }

// At is the name of one of the row's fields.
func (r memberRow) At(what string) string { return memberField(r.N, what) }

// teamForm reads and shows a team.
type teamForm struct {
	*steps.Form
	team   countersign.Team             // the stored one; zero for a new team
	agents []countersign.Agent          // that could be members
	known  map[string]countersign.Agent // of the members
}

func newTeamFormPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.WriteTeam); err != nil {
		return nil, err
	}
	v.R.PostForm = url.Values{}
	f, err := teamFormOf(v, countersign.Team{})
	if err != nil {
		return nil, err
	}
	return f.page(nil)
}

// teamFormPage shows a stored team; one that the form can't show whole is shown as JSON.
func teamFormPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.WriteTeam); err != nil {
		return nil, err
	}
	t, err := v.Control.Team(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	v.R.PostForm = url.Values{"name": {t.Name}}
	for i, m := range t.Members {
		v.R.PostForm.Set(memberField(i, "agentId"), m.AgentID)
		v.R.PostForm.Set(memberField(i, "role"), m.Role)
	}
	f, err := teamFormOf(v, t)
	if err != nil {
		return nil, err
	}
	list := make([]steps.BuiltStep, len(t.Steps))
	for i, s := range t.Steps {
		list[i] = steps.BuiltStep{ID: s.ID, Name: s.Name, Owner: s.AgentID, Capability: s.Capability, Input: s.Input, DependsOn: s.DependsOn, Bindings: s.InputBindings, Expectation: s.Expectation}
	}
	if !f.Write(list) || text.RawOf(f.members()) != text.RawOf(t.Members) {
		return teamDocument(v, nil)
	}
	return f.page(nil)
}

// teamFormOf reads the agents that the form names, and those that it could name.
func teamFormOf(v *web.Request, t countersign.Team) (*teamForm, error) {
	f := &teamForm{Form: &steps.Form{Request: v, Loose: true}, team: t, known: map[string]countersign.Agent{}}
	found, err := v.Control.Agents(v.R.Context(), v.Actor, control.List{Limit: countersign.MaxPageLimit}, control.AgentFilter{Status: string(countersign.AgentAdmitted)})
	if err != nil {
		return nil, err
	}
	for _, a := range found.Items {
		if a.ModelID != "" && !a.Suspended {
			f.agents = append(f.agents, a)
		}
	}
	return f, f.readMembers()
}

// readMembers reads the members' agents and what they may call.
func (f *teamForm) readMembers() (err error) {
	v := f.Request
	if f.known, err = agentsOf(v, countersign.Team{Members: f.members()}); err != nil {
		return err
	}
	projects, err := capabilitiesOf(v, f.known)
	f.Offers = nil
	for _, m := range f.members() {
		a := f.known[m.AgentID]
		p := projects[a.ProjectID]
		for _, name := range a.Capabilities {
			if c := p.Capability(name); c != nil {
				f.Offers = append(f.Offers, steps.Offer{Owner: a.ID, Word: a.Name, Capability: c, Fixed: a.ExecutorInputs[name]})
			}
		}
	}
	return err
}

// members are those of the form.
func (f *teamForm) members() []countersign.TeamMember {
	out := []countersign.TeamMember{}
	for i := 0; i < maxBuiltMembers && f.Request.R.PostForm.Has(memberField(i, "agentId")); i++ {
		out = append(out, countersign.TeamMember{AgentID: f.Request.Form(memberField(i, "agentId")), Role: f.Request.Form(memberField(i, "role"))})
	}
	return out
}

func (f *teamForm) page(err error) (*web.Page, error) {
	v, t := f.Request, f.team
	s := form.Of(v, err, "")
	s.Filled = true
	d := teamFormData{Team: t, To: "/teams/+form", Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict}
	d.Saves = web.RevisionReplaced(v, t.Revision, d.Over)
	title, crumbs := "New team", []web.Crumb{{Word: "Teams", Href: "/teams"}, {Word: "New"}}
	if t.ID == "" {
		d.Head = append(d.Head, form.Must(s.Mono("id", "ID", "Letters, digits, dots, underscores and hyphens. It never changes.", "")))
	} else {
		title, crumbs, d.To = "Edit "+t.Name, teamCrumbs(t, web.Crumb{Word: "Edit"}), "/teams/"+t.ID+"/edit"
	}
	d.Head = append(d.Head, form.Must(s.Line("name", "Name", "", "")))
	for i, m := range f.members() {
		row := memberRow{N: i, Agent: m.AgentID, Word: f.known[m.AgentID].Name, Wrong: s.Take(memberField(i, "agentId"))}
		row.Role = s.Line(memberField(i, "role"), "Role here", "", "")
		d.Members = append(d.Members, row)
	}
	if d.None = s.Take("members"); d.None == "" && len(d.Members) == 0 {
		d.None = "None yet: a team has at least two."
	}
	for _, a := range f.agents {
		if !slices.ContainsFunc(d.Members, func(m memberRow) bool { return m.Agent == a.ID }) {
			d.Agents = append(d.Agents, form.Choice{Value: a.ID, Word: a.Name + " (" + a.Role + "), " + a.ProjectID})
		}
	}
	d.Rows = f.Rows(s)
	d.Offers = f.OffersFor("agent", "Add members first: steps call what these may.")
	w, _ := f.typedTeam()
	d.JSON = text.Pretty(w)
	d.Problem = s.Problem()
	return &web.Page{Name: "team-form", Title: title, Nav: "teams", Crumbs: crumbs, Data: d}, nil
}

// typedTeam reads the form, as far as it can be read.
func (f *teamForm) typedTeam() (countersign.TeamWrite, error) {
	w := countersign.TeamWrite{Name: f.Request.Form("name"), Members: f.members(), Steps: []countersign.TeamStep{}}
	steps, wrong := f.Typed()
	for _, s := range steps {
		w.Steps = append(w.Steps, countersign.TeamStep{ID: s.ID, Name: s.Name, AgentID: s.Owner, Capability: s.Capability, Input: s.Input, DependsOn: s.DependsOn, InputBindings: s.Bindings, Expectation: s.Expectation})
	}
	return w, web.Together(f.Request.Chosen("name"), wrong)
}

// edit adds or removes a member or a step if such a button was pressed.
func (f *teamForm) edit() (done bool, err error) {
	form := f.Request.R.PostForm
	n, notRow := strconv.Atoi(form.Get("removeMember"))
	switch id := f.Request.Form("agent"); {
	case notRow == nil:
		f.Request.R.PostForm = steps.WithoutRow(form, "members", n)
	case f.Request.Form("do") == "member" && slices.ContainsFunc(f.agents, func(a countersign.Agent) bool { return a.ID == id }):
		form.Set(memberField(len(f.members()), "agentId"), id)
	default:
		return f.Form.Edit(), nil
	}
	return true, f.readMembers()
}

func makeTeam(v *web.Request) (string, error) {
	id := v.Form("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.WriteTeam, "team/"+id); err != nil {
		return "", err
	}
	f, err := teamFormOf(v, countersign.Team{})
	if err != nil {
		return "", err
	}
	return f.act(id, func() error {
		if !countersign.ValidID(id) {
			return web.Invalid("id", "letters, digits, dots, underscores and hyphens, at most 128")
		}
		return nil
	})
}

func changeTeam(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := v.Control.Authorize(v.R.Context(), v.Actor, access.WriteTeam, "team/"+id); err != nil {
		return "", err
	}
	t, err := v.Control.Team(v.R.Context(), v.Actor, id)
	if err != nil {
		return "", err
	}
	f, err := teamFormOf(v, t)
	if err != nil {
		return "", err
	}
	return f.act(id, func() error { return nil })
}

// act edits the form's rows or saves the team.
func (f *teamForm) act(id string, check func() error) (string, error) {
	done, err := f.edit()
	if err != nil {
		return "", err
	}
	if done || f.Request.Form("do") != "save" {
		return "", web.ShownAgain(f.page)
	}
	w, err := f.typedTeam()
	if err = web.Together(check(), err); err == nil {
		w.ExpectedRevision = f.Request.FormRevision()
		_, err = f.Request.Control.PutTeam(f.Request.R.Context(), f.Request.Actor, id, w)
	}
	if f.team.ID == "" {
		err = web.Taken(err, "team", id)
	}
	if err != nil {
		return "", web.FormAgain(err, f.page)
	}
	return "/teams/" + id, nil
}
