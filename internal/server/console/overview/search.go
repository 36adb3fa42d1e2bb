package overview

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

func searchRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/search", Page: searchPage},
		{Method: "GET", Path: "/search/names", Stream: searchNames},
	}
}

// hit is a record that was found. Where says where in it the text stands, "" for its ID.
type hit struct {
	Kind, ID, Href, Where, Value, Note string
	At                                 time.Time
}

// Title is what a person knows it by.
func (h hit) Title() string { return cmp.Or(h.Value, h.ID) }

type searchData struct {
	Query string
	Hits  []hit
}

// searchPage finds records by ID, and by what people have in hand. A step's idempotency key
// starts with its run's ID and finds that run.
func searchPage(v *web.Request) (*web.Page, error) {
	d := searchData{Query: strings.TrimSpace(v.Query("q"))}
	if len(d.Query) <= maxQuery {
		d.Hits = findByID(v, d.Query)
		named, err := namesWith(v, d.Query)
		if err != nil {
			return nil, err
		}
		for _, h := range named {
			if !slices.ContainsFunc(d.Hits, func(known hit) bool { return known.Href == h.Href }) {
				d.Hits = append(d.Hits, h)
			}
		}
		found, err := v.Control.Search(v.R.Context(), v.Actor, d.Query)
		if err != nil {
			return nil, err
		}
		for _, h := range found.Items {
			d.Hits = append(d.Hits, hitOf(h))
		}
	}
	return &web.Page{Name: "search", Title: "Find", Crumbs: []web.Crumb{{Word: "Find"}}, Data: d}, nil
}

func hitOf(h countersign.SearchHit) hit {
	out := hit{Kind: "Run", ID: h.ID, Href: web.Prefix + "/runs/" + h.ID, Where: h.Where, Value: h.Value, At: h.At}
	if h.Kind == "token" {
		out.Kind, out.Href, out.Note = "Token", web.Prefix+"/access/tokens", h.Status
		return out
	}
	out.Note = text.RunState(countersign.Run{Status: countersign.RunStatus(h.Status), Mode: h.Mode}).Word
	return out
}

const maxQuery = 255

func findByID(v *web.Request, id string) []hit {
	run, _, _ := strings.Cut(id, ".")
	var hits []hit
	try := func(kind, id, href string, get func(context.Context) error) {
		if countersign.ValidID(id) && get(v.R.Context()) == nil {
			hits = append(hits, hit{Kind: kind, ID: id, Href: web.Prefix + href + id})
		}
	}
	try("Run", run, "/runs/", func(ctx context.Context) error { _, err := v.Control.Run(ctx, v.Actor, run); return err })
	try("Approval", id, "/approvals/", func(ctx context.Context) error { _, err := v.Control.Approval(ctx, v.Actor, id); return err })
	try("Plan", id, "/plans/", func(ctx context.Context) error { _, err := v.Control.Plan(ctx, v.Actor, id); return err })
	try("Model", id, "/models/", func(ctx context.Context) error { _, err := v.Control.Model(ctx, v.Actor, id); return err })
	try("Project", id, "/projects/", func(ctx context.Context) error { _, err := v.Control.Project(ctx, v.Actor, id); return err })
	try("Agent", id, "/agents/", func(ctx context.Context) error { _, err := v.Control.Agent(ctx, v.Actor, id); return err })
	try("Team", id, "/teams/", func(ctx context.Context) error { _, err := v.Control.Team(ctx, v.Actor, id); return err })
	return hits
}
