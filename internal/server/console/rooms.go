package console

import (
	"embed"
	"net/http"
	"slices"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/access"
	"github.com/countersign/countersign/internal/server/console/agents"
	"github.com/countersign/countersign/internal/server/console/approvals"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/models"
	"github.com/countersign/countersign/internal/server/console/overview"
	"github.com/countersign/countersign/internal/server/console/plans"
	"github.com/countersign/countersign/internal/server/console/projects"
	"github.com/countersign/countersign/internal/server/console/recovery"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/web"
)

//go:embed templates
var templates embed.FS

// Prefix is the console's base path.
const Prefix = web.Prefix

// Config is the console's configuration.
type Config = web.Config

// Asset is the address of an asset, which the manual uses too.
func Asset(name string) string { return web.Asset(name) }

// Theme is the chosen theme, which the manual has too.
func Theme(r *http.Request) string { return web.Theme(r) }

// Console is all pages.
type Console struct {
	*web.Site
	live *runs.Views
}

// New makes the console.
func New(cfg Config, s *control.Service) (*Console, error) {
	c := &Console{live: &runs.Views{}}
	var err error
	c.Site, err = web.New(cfg, s, templates, functions, routes(cfg, c.live))
	return c, err
}

func routes(cfg Config, live *runs.Views) []web.Route {
	return slices.Concat(
		overview.Routes(), desk.Routes(), runs.Routes(live), approvals.Routes(), recovery.Routes(), plans.Routes(), models.Routes(), projects.Routes(), agents.Routes(),
		access.Routes(cfg.Verifier),
	)
}
