package web

import "strings"

// howTos are the manual's pages about what a page is for, by its template: the beginning of its
// name up to a hyphen stands for those that have none. Pages of the desk name theirs by themselves.
var howTos = map[string]string{
	"overview": "console", "search": "console", "more": "console", "settings": "how-to/stop-and-go", "audit": "how-to/witnesses",
	"approvals": "how-to/approve", "recovery": "how-to/recover", "runs": "quick-start/operator", "run": "quick-start/operator", "run-keep": "how-to/redact-a-run", "sheet": "reference/receipt",
	"plans": "quick-start/operator", "plan": "quick-start/operator", "models": "state-machine", "model": "state-machine", "model-edit": "how-to/edit-a-model", "model-form": "how-to/edit-a-model",
	"projects": "how-to/connect-an-api", "project": "how-to/connect-an-api", "capability": "how-to/rules-and-groups", "bench": "how-to/rules-and-groups", "try": "how-to/connect-an-api",
	"agents": "how-to/let-an-agent-in-by-mcp", "agent": "how-to/let-an-agent-in-by-mcp", "teams": "how-to/run-a-team", "team": "how-to/run-a-team",
	"users": "how-to/sign-in-and-mail", "user": "how-to/sign-in-and-mail", "tokens": "security", "token": "security", "groups": "how-to/rules-and-groups", "group": "how-to/rules-and-groups",
	"webhooks": "how-to/get-notified", "webhook": "how-to/get-notified", "tenants": "security", "tenant": "security", "changes": "how-to/weaken-by-several",
}

// HowTo is the address of the manual's page about the page, "" for none.
func (p *Page) HowTo() string {
	if at := howTos[p.Name]; at != "" {
		return "/docs/" + at
	}
	of, _, _ := strings.Cut(p.Name, "-")
	if at := howTos[of]; at != "" && of != "recovery" {
		return "/docs/" + at
	}
	return ""
}
