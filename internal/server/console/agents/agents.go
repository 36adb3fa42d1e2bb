package agents

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Functions are the functions of the templates of agents and teams.
var Functions = template.FuncMap{"livenessState": livenessState, "admissionState": admissionState, "teamState": teamState}

// Routes are the pages of agents and of teams.
func Routes() []web.Route {
	moves := slices.Concat(
		web.RetireRoutes("/agents/", (*control.Service).RetireAgent, (*control.Service).RestoreAgent),
		web.RetireRoutes("/teams/", (*control.Service).RetireTeam, (*control.Service).RestoreTeam))
	return slices.Concat(moves, registryRoutes(), teamRoutes())
}

func registryRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/projects/{id}/agent", Page: newAgentPage},
		{Method: "POST", Path: "/projects/{id}/agent", Act: makeAgent},
		{Method: "GET", Path: "/agents", Page: agentsPage},
		// no ID contains a plus sign, so this path hides no agent
		{Method: "GET", Path: "/agents/+liveness", Stream: livenessOfAgents},
		{Method: "GET", Path: "/agents/{id}", Page: agentPage},
		{Method: "GET", Path: "/agents/{id}/instances", Stream: instancesOfAgent},
		{Method: "GET", Path: "/agents/{id}/edit", Page: agentFormPage},
		{Method: "POST", Path: "/agents/{id}/edit", Act: changeAgent},
		{Method: "POST", Path: "/agents/{id}/admit", Act: admitAgent},
		{Method: "POST", Path: "/agents/{id}/suspend", Act: suspendAgent},
		{Method: "POST", Path: "/agents/{id}/identities", Act: changeIdentities},
		{Method: "GET", Path: "/agents/{id}/run", Page: agentRunPage},
		{Method: "POST", Path: "/agents/{id}/run", Act: startAgentRun},
	}
}

// livenesses are the liveness states in the order of the filter.
var livenesses = []countersign.Liveness{
	countersign.LivenessBusy, countersign.LivenessOnline, countersign.LivenessError, countersign.LivenessStale, countersign.LivenessUnknown,
}

var livenessStates = map[countersign.Liveness]text.State{
	countersign.LivenessBusy:    {Class: "is-run", Icon: "s-busy", Word: "Busy"},
	countersign.LivenessOnline:  {Class: "is-ok", Icon: "s-online", Word: "Online"},
	countersign.LivenessError:   {Class: "is-fail", Icon: "s-failed", Word: "Error"},
	countersign.LivenessStale:   {Class: "is-wait", Icon: "s-stale", Word: "Stale"},
	countersign.LivenessUnknown: {Class: "is-idle", Icon: "s-unknown", Word: "Unknown"},
}

func livenessState(l countersign.Liveness) text.State { return livenessStates[l] }

// admissionState is an agent's state in the registry.
func admissionState(a countersign.Agent) text.State {
	switch {
	case a.Retired:
		return text.RetiredState
	case a.Suspended:
		return text.State{Class: "is-wait", Icon: "s-cancelled", Word: "Suspended"}
	case a.Status == countersign.AgentAdmitted:
		return text.State{Class: "is-idle", Icon: "i-check", Word: "Admitted"}
	default:
		return text.State{Class: "is-wait", Icon: "s-pending", Word: "Pending"}
	}
}

type agentsData struct {
	Items     []countersign.Agent
	Instances map[string]int
	Filters   []countedFilter
	All       int
	Poll      string // address that returns their current liveness
	Pager     web.Pager
	Retirees  web.Retirees
}

// countedFilter is a filter with the number of agents that match it.
type countedFilter struct {
	web.Filter
	State text.State
	Count int
}

func agentsPage(v *web.Request) (*web.Page, error) {
	is := countersign.Liveness(v.Query("liveness"))
	if _, known := livenessStates[is]; !known {
		is = ""
	}
	l := v.List()
	heard, err := v.Control.HeardAgents(v.R.Context(), v.Actor, l, is)
	if err != nil {
		return nil, err
	}
	d := agentsData{Items: heard.Page.Items, Instances: heard.Instances, Poll: pollOf(heard.Page.Items), Retirees: web.RetireesOf(v)}
	for _, n := range heard.Counts {
		d.All += n
	}
	d.Filters = []countedFilter{{Filter: web.Filter{Word: "All", Href: v.WithParam("liveness", ""), Here: is == ""}, Count: d.All}}
	for _, one := range livenesses {
		f := web.Filter{Word: livenessState(one).Word, Href: v.WithParam("liveness", string(one)), Here: is == one}
		d.Filters = append(d.Filters, countedFilter{f, livenessState(one), heard.Counts[one]})
	}
	d.Pager = v.Pager(l, len(d.Items), heard.Page.Total, heard.Page.NextOffset)
	return &web.Page{Name: "agents", Title: "Agents", Nav: "agents", Crumbs: []web.Crumb{{Word: "Agents"}}, Data: d}, nil
}

// pollOf is the address that returns the current liveness of these agents, whatever
// filter applies to the list: rows stay in place.
func pollOf(list []countersign.Agent) string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return web.Prefix + "/agents/+liveness?ids=" + url.QueryEscape(strings.Join(ids, " "))
}

// livenessOfAgents writes the liveness cells of the rows that a page shows.
func livenessOfAgents(v *web.Request) error {
	ids := strings.Fields(v.Query("ids"))
	list, err := v.Control.AgentsNamed(v.R.Context(), v.Actor, ids[:min(len(ids), web.PageSize)])
	if err != nil {
		return err
	}
	return v.Fragment(&web.Page{Name: "agents", Data: agentsData{Items: list}}, "agents-now")
}
