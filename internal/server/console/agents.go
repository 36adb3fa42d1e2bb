package console

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
)

// agentFunctions are the functions of the templates of agents and teams.
var agentFunctions = template.FuncMap{"livenessState": livenessState, "admissionState": admissionState, "teamState": teamState}

// agentRoutes are the pages of agents and of teams.
func agentRoutes() []route {
	moves := slices.Concat(
		retireRoutes("/agents/", (*control.Service).RetireAgent, (*control.Service).RestoreAgent),
		retireRoutes("/teams/", (*control.Service).RetireTeam, (*control.Service).RestoreTeam))
	return slices.Concat(moves, registryRoutes(), teamRoutes())
}

func registryRoutes() []route {
	return []route{
		{method: "GET", path: "/projects/{id}/agent", page: newAgentPage},
		{method: "POST", path: "/projects/{id}/agent", act: makeAgent},
		{method: "GET", path: "/agents", page: agentsPage},
		// no ID contains a plus sign, so this path hides no agent
		{method: "GET", path: "/agents/+liveness", stream: livenessOfAgents},
		{method: "GET", path: "/agents/{id}", page: agentPage},
		{method: "GET", path: "/agents/{id}/instances", stream: instancesOfAgent},
		{method: "GET", path: "/agents/{id}/edit", page: agentFormPage},
		{method: "POST", path: "/agents/{id}/edit", act: changeAgent},
		{method: "POST", path: "/agents/{id}/admit", act: admitAgent},
		{method: "POST", path: "/agents/{id}/suspend", act: suspendAgent},
		{method: "GET", path: "/agents/{id}/run", page: agentRunPage},
		{method: "POST", path: "/agents/{id}/run", act: startAgentRun},
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
	Pager     pager
	Retirees  retirees
}

// countedFilter is a filter with the number of agents that match it.
type countedFilter struct {
	filter
	State text.State
	Count int
}

func agentsPage(v *pageRequest) (*page, error) {
	is := countersign.Liveness(v.query("liveness"))
	if _, known := livenessStates[is]; !known {
		is = ""
	}
	l := v.list()
	heard, err := v.control.HeardAgents(v.r.Context(), v.actor, l, is)
	if err != nil {
		return nil, err
	}
	d := agentsData{Items: heard.Page.Items, Instances: heard.Instances, Poll: pollOf(heard.Page.Items), Retirees: retireesOf(v)}
	for _, n := range heard.Counts {
		d.All += n
	}
	d.Filters = []countedFilter{{filter: filter{Word: "All", Href: v.withParam("liveness", ""), Here: is == ""}, Count: d.All}}
	for _, one := range livenesses {
		f := filter{Word: livenessState(one).Word, Href: v.withParam("liveness", string(one)), Here: is == one}
		d.Filters = append(d.Filters, countedFilter{f, livenessState(one), heard.Counts[one]})
	}
	d.Pager = v.pager(l, len(d.Items), heard.Page.Total, heard.Page.NextOffset)
	return &page{name: "agents", Title: "Agents", Nav: "agents", Crumbs: []crumb{{Word: "Agents"}}, Data: d}, nil
}

// pollOf is the address that returns the current liveness of these agents, whatever
// filter applies to the list: rows stay in place.
func pollOf(list []countersign.Agent) string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return Prefix + "/agents/+liveness?ids=" + url.QueryEscape(strings.Join(ids, " "))
}

// livenessOfAgents writes the liveness cells of the rows that a page shows.
func livenessOfAgents(v *pageRequest) error {
	ids := strings.Fields(v.query("ids"))
	list, err := v.control.AgentsNamed(v.r.Context(), v.actor, ids[:min(len(ids), pageSize)])
	if err != nil {
		return err
	}
	return v.fragment(&page{name: "agents", Data: agentsData{Items: list}}, "agents-now")
}
