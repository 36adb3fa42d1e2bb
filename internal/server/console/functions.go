package console

import (
	"html/template"
	"maps"

	"github.com/countersign/countersign/internal/server/console/access"
	"github.com/countersign/countersign/internal/server/console/agents"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/models"
	"github.com/countersign/countersign/internal/server/console/overview"
	"github.com/countersign/countersign/internal/server/console/projects"
	"github.com/countersign/countersign/internal/server/console/rules"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// functions are the template functions besides the frame's methods.
var functions = joinedFunctions(
	text.Functions, web.Functions, form.Functions, drawn.Functions, rules.Functions,
	runs.Functions, models.Functions, projects.Functions, agents.Functions, access.Functions, overview.Functions,
)

func joinedFunctions(all ...template.FuncMap) template.FuncMap {
	out := template.FuncMap{}
	for _, one := range all {
		maps.Copy(out, one)
	}
	return out
}
