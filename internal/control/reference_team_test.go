package control_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// putTeam says what becomes of writing a team.
func (b *referenceModel) putTeam(a control.Actor, id string, w countersign.TeamWrite) countersign.Code {
	if rehearses(a) || lacks(a, countersign.RoleOperator) {
		return countersign.CodeRoleRequired
	}
	current := int64(0)
	if code := b.reachTeam(a, id); code == countersign.CodeProjectScope {
		return code
	} else if code == "" {
		current = b.teams[id].Revision
	}
	switch {
	case outside(a, b.systems(w.Members)...):
		return countersign.CodeProjectScope
	case len(w.Steps) == 0, b.wrongMembers(w.Members), b.wrongSteps(w.Members, w.Steps, nil, false):
		return countersign.CodeInvalidRequest
	case w.ExpectedRevision != current:
		return countersign.CodeRevisionConflict
	case b.unadmitted(w.Members):
		return countersign.CodeAgentNotAdmitted
	}
	return ""
}

// toggleTeam says what becomes of suspending or resuming a team.
func (b *referenceModel) toggleTeam(a control.Actor, id string) countersign.Code {
	if rehearses(a) || lacks(a, countersign.RoleAdmin) {
		return countersign.CodeRoleRequired
	}
	return b.reachTeam(a, id)
}

func (b *referenceModel) wrongMembers(members []countersign.TeamMember) bool {
	different := map[string]bool{}
	for _, m := range members {
		different[m.AgentID] = true
		if known := b.agents[m.AgentID]; known == nil || known.ModelID == "" {
			return true
		}
	}
	return len(different) < 2
}

func (b *referenceModel) unadmitted(members []countersign.TeamMember) bool {
	return slices.ContainsFunc(members, func(m countersign.TeamMember) bool { return b.agents[m.AgentID].Status != countersign.AgentAdmitted })
}

// wrongSteps judges steps with the inputs of a run; unless they are complete,
// more may come.
func (b *referenceModel) wrongSteps(members []countersign.TeamMember, steps []countersign.TeamStep, run map[string]map[string]countersign.Value, complete bool) bool {
	before := map[string]bool{}
	for _, s := range steps {
		member := slices.ContainsFunc(members, func(m countersign.TeamMember) bool { return m.AgentID == s.AgentID })
		if before[s.ID] || !member || b.wrongCall(b.agents[s.AgentID], s.Capability, s.Input, run[s.ID], s.InputBindings, complete) {
			return true
		}
		for _, d := range s.DependsOn {
			if !before[d] { // these teams' steps depend on earlier ones or nobody
				return true
			}
		}
		for _, from := range s.InputBindings {
			if !slices.Contains(s.DependsOn, from.StepID) { // and are bound to those that they name
				return true
			}
		}
		before[s.ID] = true
	}
	return slices.ContainsFunc(keys(run), func(id string) bool { return !before[id] })
}

// wrongCall judges what an agent is to call, and with which inputs.
func (b *referenceModel) wrongCall(a *countersign.Agent, capability string, step, run map[string]countersign.Value, bound map[string]countersign.Binding, complete bool) bool {
	if a == nil || !slices.Contains(a.Capabilities, capability) {
		return true
	}
	fixed := a.ExecutorInputs[capability]
	given := map[string]countersign.Value{}
	for _, layer := range []map[string]countersign.Value{step, run, fixed} {
		maps.Copy(given, layer)
	}
	for name, v := range given {
		_, is := fixed[name]
		_, inStep := step[name]
		_, inRun := run[name]
		if misfits(capability, name, v) || is && (inStep || inRun) {
			return true
		}
	}
	for name := range bound {
		if _, literal := given[name]; literal || contract[capability][name] == "" {
			return true
		}
	}
	for name, kind := range contract[capability] {
		_, literal := given[name]
		_, later := bound[name]
		if complete && kind == "STRING" && !literal && !later {
			return true
		}
	}
	return false
}

// misfits reports a value that the capability doesn't take under this name.
func misfits(capability, name string, v countersign.Value) bool {
	kind, known := contract[capability][name]
	return !known || strings.ToLower(kind) != v.Kind().String() || name == "key" && !countersign.ValidID(v.Text())
}

// startAgent says what becomes of starting an agent run; earlier is the run that
// the key has started already.
func (b *referenceModel) startAgent(a control.Actor, id string, s countersign.AgentRunStart, key, order string) (code countersign.Code, earlier *started) {
	if lacks(a, countersign.RoleOperator) {
		return countersign.CodeRoleRequired, nil
	}
	if code, earlier = b.claimed(a, b.reachAgent(a, id), s.Mode, key, order); code != "" || earlier != nil {
		return code, earlier
	}
	if s.Mode == countersign.ModeLive && s.Expectation == nil {
		return countersign.CodeExpectationRequired, nil
	}
	is := b.agents[id]
	one := []countersign.TeamMember{{AgentID: id}}
	switch {
	case !is.Suspended && is.Revision != s.ExpectedRevision:
		return countersign.CodeRevisionConflict, nil
	case is.Status != countersign.AgentAdmitted:
		return countersign.CodeAgentNotAdmitted, nil
	case s.Mode == countersign.ModeLive && b.disabled[is.ProjectID]:
		return countersign.CodeProjectDisabled, nil
	case is.ModelID == "broken", b.wrongCall(is, s.Capability, s.Inputs, nil, nil, true):
		return countersign.CodeInvalidRequest, nil
	}
	return b.drift(one), nil
}

// startTeam says what becomes of starting a team run.
func (b *referenceModel) startTeam(a control.Actor, id string, s countersign.TeamRunStart, key, order string) (code countersign.Code, earlier *started) {
	if lacks(a, countersign.RoleOperator) {
		return countersign.CodeRoleRequired, nil
	}
	if code, earlier = b.claimed(a, b.reachTeam(a, id), s.Mode, key, order); code != "" || earlier != nil {
		return code, earlier
	}
	is := b.teams[id]
	disabled := slices.ContainsFunc(b.systems(is.Members), func(p string) bool { return b.disabled[p] })
	broken := slices.ContainsFunc(is.Members, func(m countersign.TeamMember) bool { return b.agents[m.AgentID].ModelID == "broken" })
	switch {
	case is.Suspended:
		return countersign.CodeDrift, nil
	case is.Revision != s.ExpectedRevision:
		return countersign.CodeRevisionConflict, nil
	case b.unadmitted(is.Members):
		return countersign.CodeAgentNotAdmitted, nil
	case s.Mode == countersign.ModeLive && disabled:
		return countersign.CodeProjectDisabled, nil
	case broken, len(is.Steps) == 0, b.wrongMembers(is.Members), b.wrongSteps(is.Members, is.Steps, s.Inputs, true):
		return countersign.CodeInvalidRequest, nil
	}
	return b.drift(is.Members), nil
}

// claimed says whether the mode is open to the actor, and what the key started. reached says
// whether what is to be started is there and in scope: the key comes between the two.
func (b *referenceModel) claimed(a control.Actor, reached countersign.Code, mode, key, order string) (countersign.Code, *started) {
	if a.Modes != nil && !slices.Contains(a.Modes, cmp.Or(mode, countersign.ModeDryRun)) {
		return countersign.CodeRoleRequired, nil
	}
	if reached == countersign.CodeProjectScope {
		return reached, nil
	}
	earlier := b.runs[key]
	if earlier != nil && (outside(a, earlier.projects...) || earlier.order != order) {
		return countersign.CodeIdempotencyConflict, nil
	}
	return reached, earlier
}

// drift is that of members whose model is suspended.
func (b *referenceModel) drift(members []countersign.TeamMember) countersign.Code {
	for _, m := range members {
		if is := b.models[b.agents[m.AgentID].ModelID]; is != nil && is.suspended {
			return countersign.CodeDrift
		}
	}
	return ""
}

// sees is what a run of these members is made from, and of the team if there is
// one. Projects of these tests never change.
func (b *referenceModel) sees(team *countersign.Team, members []countersign.TeamMember) map[string]int64 {
	seen := map[string]int64{}
	if team != nil {
		seen["team/"+team.ID] = team.Revision
	}
	for _, m := range members {
		is := b.agents[m.AgentID]
		seen["agent/"+is.ID] = is.Revision
		if is.ModelID != "" {
			seen["model/"+is.ModelID] = b.models[is.ModelID].revision
		}
	}
	return seen
}

// current reports whether nothing that a run was made from has changed or is
// suspended.
func (b *referenceModel) current(r *started) bool {
	for what, revision := range r.seen {
		kind, id, _ := strings.Cut(what, "/")
		var now head
		switch kind {
		case "team":
			now = head{b.teams[id].Revision, b.teams[id].Suspended}
		case "agent":
			now = head{b.agents[id].Revision, b.agents[id].Suspended}
		default:
			now = *b.models[id]
		}
		if now.revision != revision || now.suspended {
			return false
		}
	}
	return true
}
