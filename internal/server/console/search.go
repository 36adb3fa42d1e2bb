package console

import (
	"context"
	"strings"

	"github.com/countersign/countersign"
)

func (c *Console) searchRoutes() []route {
	return []route{{method: "GET", path: "/search", page: searchPage}}
}

type hit struct{ Kind, ID, Href string }

type searchData struct {
	Query string
	Hits  []hit
}

// searchPage finds records by ID. A step's idempotency key starts with its run's ID and
// finds that run.
func searchPage(v *pageRequest) (*page, error) {
	d := searchData{Query: v.query("q")}
	if len(d.Query) <= maxQuery {
		d.Hits = v.find(d.Query)
	}
	return &page{name: "search", Title: "Find", Crumbs: []crumb{{Word: "Find"}}, Data: d}, nil
}

const maxQuery = 200

func (v *pageRequest) find(id string) []hit {
	run, _, _ := strings.Cut(id, ".")
	var hits []hit
	try := func(kind, id, href string, get func(context.Context) error) {
		if countersign.ValidID(id) && get(v.r.Context()) == nil {
			hits = append(hits, hit{kind, id, Prefix + href + id})
		}
	}
	try("Run", run, "/runs/", func(ctx context.Context) error { _, err := v.control.Run(ctx, v.actor, run); return err })
	try("Approval", id, "/approvals/", func(ctx context.Context) error { _, err := v.control.Approval(ctx, v.actor, id); return err })
	try("Plan", id, "/plans/", func(ctx context.Context) error { _, err := v.control.Plan(ctx, v.actor, id); return err })
	try("Model", id, "/models/", func(ctx context.Context) error { _, err := v.control.Model(ctx, v.actor, id); return err })
	try("Project", id, "/projects/", func(ctx context.Context) error { _, err := v.control.Project(ctx, v.actor, id); return err })
	try("Agent", id, "/agents/", func(ctx context.Context) error { _, err := v.control.Agent(ctx, v.actor, id); return err })
	try("Team", id, "/teams/", func(ctx context.Context) error { _, err := v.control.Team(ctx, v.actor, id); return err })
	return hits
}
