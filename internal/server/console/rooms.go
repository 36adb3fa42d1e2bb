package console

import (
	"embed"
	"slices"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/web"
)

//go:embed templates
var templates embed.FS

// Console is all pages.
type Console struct {
	*web.Site
	live *sharedViews
}

// New makes the console.
func New(cfg web.Config, s *control.Service) (*Console, error) {
	c := &Console{live: &sharedViews{}}
	var err error
	c.Site, err = web.New(cfg, s, templates, functions, routes(cfg, c.live))
	return c, err
}

func routes(cfg web.Config, live *sharedViews) []web.Route {
	return slices.Concat(
		overviewRoutes(), runRoutes(live), approvalRoutes(), recoveryRoutes(), planRoutes(), modelRoutes(), projectRoutes(), agentRoutes(),
		accessRoutes(cfg.Verifier),
	)
}
