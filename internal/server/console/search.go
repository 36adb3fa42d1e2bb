package console

import (
	"context"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

func searchRoutes() []route {
	return []route{{method: "GET", path: "/search", page: searchPage}}
}

// hit is a record that was found. Where says where in it the text stands, "" for its ID.
type hit struct{ Kind, ID, Href, Where, Value, Note string }

type searchData struct {
	Query string
	Hits  []hit
}

// searchPage finds records by ID, and by what people have in hand. A step's idempotency key
// starts with its run's ID and finds that run.
func searchPage(v *pageRequest) (*page, error) {
	d := searchData{Query: strings.TrimSpace(v.query("q"))}
	if len(d.Query) <= maxQuery {
		d.Hits = findByID(v, d.Query)
		found, err := v.control.Search(v.r.Context(), v.actor, d.Query)
		if err != nil {
			return nil, err
		}
		for _, h := range found.Items {
			d.Hits = append(d.Hits, hitOf(h))
		}
	}
	return &page{name: "search", Title: "Find", Crumbs: []crumb{{Word: "Find"}}, Data: d}, nil
}

func hitOf(h countersign.SearchHit) hit {
	out := hit{Kind: "Run", ID: h.ID, Href: Prefix + "/runs/" + h.ID, Where: h.Where, Value: h.Value}
	if h.Kind == "token" {
		out.Kind, out.Href, out.Note = "Token", Prefix+"/access/tokens", h.Status
		return out
	}
	out.Note = text.RunState(countersign.Run{Status: countersign.RunStatus(h.Status), Mode: h.Mode}).Word
	return out
}

const maxQuery = 255

func findByID(v *pageRequest, id string) []hit {
	run, _, _ := strings.Cut(id, ".")
	var hits []hit
	try := func(kind, id, href string, get func(context.Context) error) {
		if countersign.ValidID(id) && get(v.r.Context()) == nil {
			hits = append(hits, hit{Kind: kind, ID: id, Href: Prefix + href + id})
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
