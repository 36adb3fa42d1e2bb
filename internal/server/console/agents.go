package console

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
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

var livenessStates = map[countersign.Liveness]state{
	countersign.LivenessBusy:    {"is-run", "s-busy", "Busy"},
	countersign.LivenessOnline:  {"is-ok", "s-online", "Online"},
	countersign.LivenessError:   {"is-fail", "s-failed", "Error"},
	countersign.LivenessStale:   {"is-wait", "s-stale", "Stale"},
	countersign.LivenessUnknown: {"is-idle", "s-unknown", "Unknown"},
}

func livenessState(l countersign.Liveness) state { return livenessStates[l] }

// admissionState is an agent's state in the registry.
func admissionState(a countersign.Agent) state {
	switch {
	case a.Retired:
		return retiredState
	case a.Suspended:
		return state{"is-wait", "s-cancelled", "Suspended"}
	case a.Status == countersign.AgentAdmitted:
		return state{"is-idle", "i-check", "Admitted"}
	default:
		return state{"is-wait", "s-pending", "Pending"}
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
	State state
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
