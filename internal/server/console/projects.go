package console

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
)

// projectFunctions are the functions of the templates of projects.
var projectFunctions = template.FuncMap{
	"enabledState": enabledState, "healthState": healthState, "adapterWord": adapterWord, "authWord": authWord, "approvalWord": approvalWord,
	"upgradeNotices": func(p countersign.Project) []upgrade.Notice { return upgrade.OfProject(&p) },
}

func projectRoutes() []route {
	read := documents{semaphore.New(1)}
	return append(retireRoutes("/projects/", (*control.Service).RetireProject, (*control.Service).RestoreProject), []route{
		{method: "GET", path: "/projects", page: projectsPage},
		{method: "GET", path: "/projects/new", page: newProjectPage},
		{method: "POST", path: "/projects/new", act: registerProject},
		// no ID contains a plus sign, so this path hides no project
		{method: "GET", path: "/projects/+import", page: importPage},
		{method: "POST", path: "/projects/+import", act: func(v *pageRequest) (string, error) { return importProject(v, read) }, upload: access.WriteProject, largest: maxUpload},
		{method: "GET", path: "/projects/{id}", page: projectPage},
		{method: "POST", path: "/projects/{id}/health-check", act: checkHealth},
		{method: "POST", path: "/projects/{id}/enable", act: enableProject},
		{method: "POST", path: "/projects/{id}/disable", act: disableProject},
		{method: "GET", path: "/projects/{id}/edit", page: editProjectPage},
		{method: "POST", path: "/projects/{id}/edit", act: saveProject},
		{method: "GET", path: "/projects/{id}/document", page: projectDocumentPage},
		{method: "POST", path: "/projects/{id}/document", act: saveProjectDocument},
		{method: "GET", path: "/projects/{id}/capability", page: capabilityPage},
		{method: "POST", path: "/projects/{id}/capability", act: saveCapability},
		{method: "GET", path: "/projects/{id}/try", page: tryPage},
		{method: "POST", path: "/projects/{id}/try", act: tryCapability},
	}...)
}

func projectsPage(v *pageRequest) (*page, error) {
	return recordsPage(v, "projects", "Projects", func(ctx context.Context, a control.Actor, l control.List) (countersign.Page[countersign.Project], error) {
		return control.ListProjects(ctx, v.control, a, l, projectRowOf)
	})
}

func projectCrumbs(id string, last ...crumb) []crumb {
	return crumbsBelow("Projects", "/projects", id, last...)
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
