package overview

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Bounds of a search for names: characters that it begins with, records of a kind that are looked
// at, and hits. Each kind is one page of its list.
const (
	fewestLetters = 2
	namesRead     = 100
	projectsRead  = 50 // with their capabilities
	namesShown    = 12
)

// place is a page that is found by its name.
type place struct {
	word, also, href string
	may              access.Operation // "" for everybody
}

var pagesByName = []place{
	{"Overview", "start home", "/", ""}, {"Decide", "desk approvals waiting", "/desk", ""}, {"Recovery", "uncertain unknown outcomes", "/recovery", ""},
	{"Runs", "", "/runs", ""}, {"Plans", "", "/plans", ""}, {"Models", "", "/models", ""}, {"Projects", "apis connections", "/projects", ""},
	{"Agents", "", "/agents", ""}, {"Teams", "", "/teams", ""}, {"Audit", "log records", "/audit", access.ReadAudit}, {"Access", "users people", "/access", access.ReadTokens},
	{"Tokens", "access keys", "/access/tokens", access.ReadTokens}, {"Settings", "theme passkeys sign out", "/settings", ""},
	{"Stop LIVE steps", "emergency halt", "/settings#stop", access.StopTenant}, {"Register from OpenAPI", "import connect api", "/projects/+import", access.WriteProject},
}

// searchNames writes the names that begin or go on with what is typed.
func searchNames(v *web.Request) error {
	d := searchData{Query: strings.TrimSpace(v.Query("q"))}
	if len(d.Query) <= maxQuery {
		found, err := namesWith(v, d.Query)
		if err != nil {
			return err
		}
		d.Hits = found[:min(len(found), namesShown)]
	}
	return v.Fragment(&web.Page{Name: "search", Data: d}, "names")
}

// namesWith are pages, and the projects, capabilities, agents, teams, models and plans that the
// visitor may read, with a text in their names: those that begin with it first.
func namesWith(v *web.Request, typed string) (found []hit, err error) {
	q := strings.ToLower(strings.TrimSpace(typed))
	if len([]rune(q)) < fewestLetters {
		return nil, nil
	}
	add := func(kind, name, id, href, note string) {
		if at := strings.ToLower(name); strings.Contains(at, q) || strings.Contains(strings.ToLower(id), q) {
			found = append(found, hit{Kind: kind, ID: id, Value: cmp.Or(name, id), Href: web.Prefix + href, Where: "name", Note: note})
		}
	}
	for _, p := range pagesByName {
		if strings.Contains(strings.ToLower(p.word+" "+p.also), q) && (p.may == "" || v.Can(p.may)) {
			found = append(found, hit{Kind: "Page", Value: p.word, Href: web.Prefix + p.href, Where: "name"})
		}
	}
	for _, of := range []func(*web.Request, func(kind, name, id, href, note string)) error{projectNames, agentNames, teamNames, modelNames, planNames} {
		if err := of(v, add); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(found, func(a, b hit) int {
		return cmp.Compare(later(a.Value, q), later(b.Value, q))
	})
	return found, nil
}

// later is 1 for a name that only has the text within it.
func later(name, q string) int {
	if strings.HasPrefix(strings.ToLower(name), q) {
		return 0
	}
	return 1
}

type named = func(kind, name, id, href, note string)

func projectNames(v *web.Request, add named) error {
	_, err := control.ListProjects(v.R.Context(), v.Control, v.Actor, control.List{Limit: projectsRead}, func(p countersign.Project) (struct{}, error) {
		add("Project", p.Name, p.ID, "/projects/"+p.ID, "")
		for i := range p.Capabilities {
			name := p.Capabilities[i].Name
			add("Capability", name, "", "/projects/"+p.ID+"?q="+url.QueryEscape(name)+"#capabilities", "of "+cmp.Or(p.Name, p.ID))
		}
		return struct{}{}, nil
	})
	return err
}

func agentNames(v *web.Request, add named) error {
	list, err := v.Control.AgentNames(v.R.Context(), v.Actor, control.List{Limit: namesRead})
	for _, a := range list {
		add("Agent", a.Name, a.ID, "/agents/"+a.ID, "")
	}
	return err
}

func teamNames(v *web.Request, add named) error {
	_, err := control.ListTeams(v.R.Context(), v.Control, v.Actor, control.List{Limit: namesRead}, func(t countersign.Team) (struct{}, error) {
		add("Team", t.Name, t.ID, "/teams/"+t.ID, "")
		return struct{}{}, nil
	})
	return err
}

func modelNames(v *web.Request, add named) error {
	list, err := v.Control.Models(v.R.Context(), v.Actor, control.List{Limit: namesRead})
	for i := range list.Items {
		add("Model", list.Items[i].Name, list.Items[i].ID, "/models/"+list.Items[i].ID, "")
	}
	return err
}

func planNames(v *web.Request, add named) error {
	list, err := v.Control.Plans(v.R.Context(), v.Actor, control.List{Limit: namesRead}, control.PlanFilter{})
	known := map[string]bool{}
	for i := range list.Items {
		if known[list.Items[i].Name] { // the newest of a name: runs of an agent have a plan each
			continue
		}
		known[list.Items[i].Name] = true
		add("Plan", list.Items[i].Name, list.Items[i].ID, "/plans/"+list.Items[i].ID, strings.ToLower(string(list.Items[i].Status)))
	}
	return err
}
