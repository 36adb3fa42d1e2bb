package projects

import (
	"context"
	"html/template"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/upgrade"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Functions are the functions of the templates of projects.
var Functions = template.FuncMap{
	"enabledState": enabledState, "healthState": healthState, "adapterWord": adapterWord, "authWord": authWord, "approvalWord": approvalWord,
	"upgradeNotices": func(p countersign.Project) []upgrade.Notice { return upgrade.OfProject(&p) },
}

// Routes are the pages of projects.
func Routes() []web.Route {
	read := documents{semaphore.New(1)}
	return append(web.RetireRoutes("/projects/", (*control.Service).RetireProject, (*control.Service).RestoreProject), []web.Route{
		{Method: "GET", Path: "/projects", Page: projectsPage},
		{Method: "GET", Path: "/projects/new", Page: newProjectPage},
		{Method: "POST", Path: "/projects/new", Act: registerProject},
		// no ID contains a plus sign, so this path hides no project
		{Method: "GET", Path: "/projects/+import", Page: importPage},
		{Method: "POST", Path: "/projects/+import", Act: func(v *web.Request) (string, error) { return importProject(v, read) }, Upload: access.WriteProject, Largest: maxUpload},
		{Method: "GET", Path: "/projects/{id}", Page: projectPage},
		{Method: "POST", Path: "/projects/{id}/health-check", Act: checkHealth},
		{Method: "POST", Path: "/projects/{id}/enable", Act: enableProject},
		{Method: "POST", Path: "/projects/{id}/disable", Act: disableProject},
		{Method: "GET", Path: "/projects/{id}/edit", Page: editProjectPage},
		{Method: "POST", Path: "/projects/{id}/edit", Act: saveProject},
		{Method: "GET", Path: "/projects/{id}/document", Page: projectDocumentPage},
		{Method: "POST", Path: "/projects/{id}/document", Act: saveProjectDocument},
		{Method: "GET", Path: "/projects/{id}/capability", Page: capabilityPage},
		{Method: "POST", Path: "/projects/{id}/capability", Act: saveCapability},
		{Method: "GET", Path: "/projects/{id}/what-if", Page: benchPage},
		{Method: "POST", Path: "/projects/{id}/what-if", Act: onTheBench},
		{Method: "GET", Path: "/projects/{id}/try", Page: tryPage},
		{Method: "POST", Path: "/projects/{id}/try", Act: tryCapability},
	}...)
}

func projectsPage(v *web.Request) (*web.Page, error) {
	return web.RecordsPage(v, "projects", "Projects", func(ctx context.Context, a control.Actor, l control.List) (countersign.Page[countersign.Project], error) {
		return control.ListProjects(ctx, v.Control, a, l, web.ProjectRowOf)
	})
}

// Crumbs lead to a project, and to the pages below it.
func Crumbs(id string, last ...web.Crumb) []web.Crumb {
	return web.CrumbsBelow("Projects", "/projects", id, last...)
}

// enabledState says whether LIVE runs may use a project.
func enabledState(p countersign.Project) text.State {
	if p.Retired {
		return text.RetiredState
	}
	if p.Enabled {
		return text.State{Class: "is-ok", Icon: "s-completed", Word: "Enabled"}
	}
	return text.State{Class: "is-idle", Icon: "s-cancelled", Word: "Disabled"}
}

// healthState is the result of the current revision's latest health check.
func healthState(p countersign.Project) text.State {
	switch {
	case p.Health == nil:
		return text.State{Class: "is-idle", Icon: "s-unknown", Word: "Not checked"}
	case p.Health.Healthy:
		return text.State{Class: "is-ok", Icon: "s-online", Word: "Healthy"}
	default:
		return text.State{Class: "is-fail", Icon: "s-failed", Word: "Unhealthy"}
	}
}

func adapterWord(adapter string) string {
	if adapter == countersign.AdapterLocalEcho {
		return "Local echo"
	}
	return "HTTP, JSON"
}

// originHost is the host that a project calls, for sentences.
func originHost(p countersign.Project) string {
	if _, host, ok := strings.Cut(p.BaseURL, "://"); ok {
		return host
	}
	return "the local echo"
}

func authWord(a countersign.Auth) string {
	switch a.Type {
	case countersign.AuthHMAC:
		return "HMAC-SHA256 signature"
	case countersign.AuthBearer:
		return "Bearer token"
	case countersign.AuthAPIKey:
		return "API key in " + a.HeaderName
	case countersign.AuthBasic:
		return "user " + a.User + " and a password"
	}
	return "none"
}

func approvalWord(c countersign.Capability) string {
	switch {
	case len(c.ApprovalRules) > 0 && c.NeedsApproval():
		return "By rules, else asks"
	case len(c.ApprovalRules) > 0:
		return "By rules, else doesn’t ask"
	case c.ApprovalPolicy() == countersign.ApprovalAlways:
		return "Always asks"
	case c.NeedsApproval():
		return "Asks"
	case c.ApprovalPolicy() == countersign.ApprovalNone:
		return "Never asks"
	default:
		return "Doesn’t ask"
	}
}

// toggling is enabling or disabling a project.
type toggling func(context.Context, control.Actor, string, countersign.Toggle) (countersign.Project, error)
