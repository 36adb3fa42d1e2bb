package projects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/rules"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The page of one project: whether it can be used, and what changes that (contract 5).

type projectData struct {
	countersign.Project
	Auths   []countersign.Auth
	Call    text.StatusNotice
	Reason  form.Field // why it is to be enabled or disabled
	Use     control.ProjectUse
	Shown   []shownCapability
	Meters  []rules.Meter
	Pager   web.Pager
	Find    string // narrows the capabilities to those with this text
	Many    bool   // so many capabilities that one looks for one
	Problem *web.Problem
}

// shownCapability is a capability's row.
type shownCapability struct {
	countersign.Capability
	Inputs []form.ShownInput
	Proof  proof
}

// Wants is what the capability expects, in words.
func (c shownCapability) Wants() string {
	return text.Wants(countersign.Expectations(&c.Capability, nil))
}

func projectPage(v *web.Request) (*web.Page, error) { return projectAgain(v, nil) }

// projectAgain is the project's page; err is the error of its form.
func projectAgain(v *web.Request, err error) (*web.Page, error) {
	p, unread := v.Control.Project(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	use, unread := v.Control.ProjectUse(v.R.Context(), v.Actor, p.ID)
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	d := projectData{Project: p, Auths: p.EffectiveAuths(), Use: use, Call: callOf(p, v.Can(access.ToggleProject)), Reason: form.Must(s.Line("reason", "Why", "", ""))}
	d.Find, d.Many = strings.TrimSpace(v.Query("q")), len(p.Capabilities) > capabilitiesShown
	d.Shown, d.Pager = capabilitiesOn(v, p, d.Find)
	d.Problem = s.Problem()
	if slices.ContainsFunc(p.Capabilities, func(c countersign.Capability) bool { return len(c.Budgets) > 0 }) {
		used, unread := v.Control.Budgets(v.R.Context(), v.Actor, p.ID, "")
		if unread != nil {
			return nil, unread
		}
		d.Meters = rules.MetersOf(used.Items)
	}
	return &web.Page{Name: "project", Title: p.Name, Nav: "projects", Crumbs: Crumbs(p.ID), Data: d}, nil
}

// capabilitiesShown is how many stand on one page: each takes a row of several lines.
const capabilitiesShown = 25

// capabilitiesOn are those on the current page, of those that have a text in what they are
// called or call.
func capabilitiesOn(v *web.Request, p countersign.Project, find string) ([]shownCapability, web.Pager) {
	list := p.Capabilities
	if find != "" {
		list = nil
		for i := range p.Capabilities {
			if form.Mentions(&p.Capabilities[i], find) {
				list = append(list, p.Capabilities[i])
			}
		}
	}
	from, to, pages := web.PartOf(v, "offset", len(list), capabilitiesShown)
	shown := make([]shownCapability, 0, to-from)
	for _, c := range list[from:to] {
		shown = append(shown, shownCapability{Capability: c, Inputs: form.InputsOf(c), Proof: proofOf(p, c)})
	}
	return shown, pages
}

// callOf says whether LIVE runs can use a project, and why not.
func callOf(p countersign.Project, may bool) text.StatusNotice {
	if p.Retired {
		return text.RetiredNotice("project")
	}
	c := text.StatusNotice{Class: "call--wait", Icon: "s-waiting", Check: may}
	unset := len(p.EffectiveAuths()) > 0 && !p.SecretConfigured
	switch {
	case !p.Enabled && p.Health == nil:
		c.Sentence = "No LIVE run can use this project until it is checked and enabled."
		c.Detail = "The check asks " + originHost(p) + " for " + healthPath(p) + " with the project’s authentication. Rehearsals work meanwhile."
		if !sends(p) {
			c.Detail = "A local echo is always healthy: nothing leaves this machine. Rehearsals work meanwhile."
		}
	case !p.Enabled && !p.Health.Healthy:
		c.Class, c.Icon = "call--fail", "s-failed"
		c.Sentence = "No LIVE run can use this project: its last check failed."
		c.Detail = "Enabling it needs an answer of 2xx from " + originHost(p) + healthPath(p) + "."
	case !p.Enabled:
		c.Check, c.Enable = false, may
		c.Sentence = "No LIVE run can use this project until it is enabled."
		c.Detail = "Its last check was healthy. Once it is enabled, approved steps are sent to " + originHost(p) + "."
	case unset:
		c.Check = false
		c.Sentence = "LIVE steps fail here with nothing sent: the credential is not set."
		c.Detail = "Set " + variables(p) + " in the environment of this service and start it again."
	default:
		c.Class, c.Icon, c.Check = "call--ok", "s-completed", false
		c.Sentence = "LIVE runs may use this project."
		c.Detail = "An edit disables it until it is checked and enabled again."
	}
	if !may && !p.Enabled {
		c.Detail = "An admin checks and enables it. Rehearsals work meanwhile."
	}
	return c
}

// variables are those of the project's secrets, in words.
func variables(p countersign.Project) string {
	var names []string
	for _, a := range p.EffectiveAuths() {
		names = append(names, a.CredentialEnv)
	}
	return strings.Join(names, " and ")
}

// sends reports whether the project's calls leave this machine.
func sends(p countersign.Project) bool { return p.Adapter == countersign.AdapterHTTPJSON }

func (d projectData) Sends() bool { return sends(d.Project) }

func healthPath(p countersign.Project) string { return cmp.Or(p.HealthPath, "/") }

func checkHealth(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if _, err := v.Control.CheckHealth(v.R.Context(), v.Actor, id); err != nil {
		return "", v.FormAgain(err, projectAgain)
	}
	return "/projects/" + id, nil
}

func enableProject(v *web.Request) (string, error) { return toggleProject(v, v.Control.EnableProject) }

func disableProject(v *web.Request) (string, error) {
	return toggleProject(v, v.Control.DisableProject)
}

func toggleProject(v *web.Request, toggle toggling) (string, error) {
	id := v.R.PathValue("id")
	return v.WithReason("/projects/"+id, projectAgain, func(reason string) error {
		_, err := toggle(v.R.Context(), v.Actor, id, countersign.Toggle{ExpectedRevision: v.FormRevision(), Reason: reason})
		return err
	})
}
