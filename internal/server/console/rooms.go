package console

import (
	"embed"
	"slices"

	"github.com/countersign/countersign/internal/control"
)

//go:embed templates
var templates embed.FS

// Console is all pages.
type Console struct {
	*site
	live *sharedViews
}

// New makes the console.
func New(cfg Config, s *control.Service) (*Console, error) {
	c := &Console{live: &sharedViews{}}
	var err error
	c.site, err = newSite(cfg, s, templates, functions, routes(cfg, c.live))
	return c, err
}

func routes(cfg Config, live *sharedViews) []route {
	return slices.Concat(
		overviewRoutes(), runRoutes(live), approvalRoutes(), recoveryRoutes(), planRoutes(), modelRoutes(), projectRoutes(), agentRoutes(),
		accessRoutes(cfg.Verifier),
	)
}
