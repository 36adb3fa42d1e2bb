package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// The page of one project: whether it can be used, and what changes that (contract 5).

type projectData struct {
	countersign.Project
	Auths   []countersign.Auth
	Call    statusNotice
	Reason  field // why it is to be enabled or disabled
	Use     control.ProjectUse
	Shown   []shownCapability
	Pager   pager
	Find    string // narrows the capabilities to those with this text
	Many    bool   // so many capabilities that one looks for one
	Problem *problem
}

// shownCapability is a capability's row.
type shownCapability struct {
	countersign.Capability
	Inputs []shownInput
	Proof  proof
}

type shownInput struct {
	Name, Type          string
	Required, Sensitive bool
	Field               countersign.InputField
}

// Words say what the input may be.
func (in shownInput) Words() string {
	words := in.Type
	if in.Required {
		words += ", required"
	}
	if bounds := boundsInWords(in.Field); bounds != "" {
		words += ", " + bounds
	}
	if in.Sensitive {
		words += ", masked for viewers"
	}
	return words
}

// Wants is what the capability expects, in words.
func (c shownCapability) Wants() string {
	return wants(countersign.Expectations(&c.Capability, nil))
}

func projectPage(v *pageRequest) (*page, error) { return v.projectAgain(nil) }

// projectAgain is the project's page; err is the error of its form.
func (v *pageRequest) projectAgain(err error) (*page, error) {
	p, unread := v.control.Project(v.r.Context(), v.actor, v.r.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	use, unread := v.control.ProjectUse(v.r.Context(), v.actor, p.ID)
	if unread != nil {
		return nil, unread
	}
	s := v.formOf(err, "")
	d := projectData{Project: p, Auths: p.EffectiveAuths(), Use: use, Call: callOf(p, v.can(access.ToggleProject)), Reason: must(s.line("reason", "Why", "", ""))}
	d.Find, d.Many = strings.TrimSpace(v.query("q")), len(p.Capabilities) > capabilitiesShown
	d.Shown, d.Pager = v.capabilities(p, d.Find)
	d.Problem = s.problem()
	return &page{name: "project", Title: p.Name, Nav: "projects", Crumbs: projectCrumbs(p.ID), Data: d}, nil
}

// capabilitiesShown is how many stand on one page: each takes a row of several lines.
const capabilitiesShown = 25

// capabilities are those on the current page, of those that have a text in what they are
// called or call.
func (v *pageRequest) capabilities(p countersign.Project, find string) ([]shownCapability, pager) {
	list := p.Capabilities
	if find != "" {
		list = nil
		for i := range p.Capabilities {
			if mentions(&p.Capabilities[i], find) {
				list = append(list, p.Capabilities[i])
			}
		}
	}
	from, to, pages := v.partOf("offset", len(list), capabilitiesShown)
	shown := make([]shownCapability, 0, to-from)
	for _, c := range list[from:to] {
		shown = append(shown, shownCapability{Capability: c, Inputs: inputsOf(c), Proof: proofOf(p, c)})
	}
	return shown, pages
}

// mentions reports whether what a capability is called or calls has a text.
func mentions(c *countersign.Capability, text string) bool {
	return strings.Contains(strings.ToLower(c.Name+"\n"+c.Title+"\n"+c.Description+"\n"+c.Method+" "+c.Path), strings.ToLower(text))
}

// inputsOf are a capability's inputs, required ones first.
func inputsOf(c countersign.Capability) []shownInput {
	list := make([]shownInput, 0, len(c.InputSchema))
	for name, f := range c.InputSchema {
		list = append(list, shownInput{name, typesOf(f), f.Required, slices.Contains(c.Sensitive, name), f})
	}
	rank := map[bool]int{false: 1}
	slices.SortFunc(list, func(a, b shownInput) int {
		return cmp.Or(cmp.Compare(rank[a.Required], rank[b.Required]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// callOf says whether LIVE runs can use a project, and why not.
func callOf(p countersign.Project, may bool) statusNotice {
	if p.Retired {
		return retiredNotice("project")
	}
	c := statusNotice{Class: "call--wait", Icon: "s-waiting", Check: may}
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

func checkHealth(v *pageRequest) (string, error) {
	id := v.r.PathValue("id")
	if _, err := v.control.CheckHealth(v.r.Context(), v.actor, id); err != nil {
		return "", formAgain(err, v.projectAgain)
	}
	return "/projects/" + id, nil
}

func enableProject(v *pageRequest) (string, error) { return v.toggleProject(v.control.EnableProject) }

func disableProject(v *pageRequest) (string, error) { return v.toggleProject(v.control.DisableProject) }

func (v *pageRequest) toggleProject(toggle toggling) (string, error) {
	id := v.r.PathValue("id")
	return v.withReason("/projects/"+id, v.projectAgain, func(reason string) error {
		_, err := toggle(v.r.Context(), v.actor, id, countersign.Toggle{ExpectedRevision: v.formRevision(), Reason: reason})
		return err
	})
}
