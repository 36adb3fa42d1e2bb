package plan_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign"
)

// A second implementation of contract 7's rules of team runs, as plain as it can
// be: where something is wrong, by path.

// wrongIn lists the paths of what is wrong with a run, or, with check, with the
// team by itself, to which inputs may still come and whose mode is open.
func wrongIn(d drawnTeam, check bool) []string {
	wrong := map[string]bool{}
	team, steps := d.executors.Team, d.executors.Team.Steps
	different := map[string]bool{}
	for i, m := range team.Members {
		different[m.AgentID] = true
		if a := d.agent(m.AgentID); a == nil || a.ModelID == "" {
			wrong[fmt.Sprintf("members[%d].agentId", i)] = true
		}
	}
	wrong["members"] = len(different) < 2
	wrong["steps"] = len(steps) == 0
	for i, s := range steps {
		if find(steps, s.ID) == &steps[i] && dependsOn(steps, s.ID, s.DependsOn) {
			wrong["steps"] = true // a cycle; nothing can depend on a second step of an id
		}
		if a := d.agent(s.AgentID); a == nil {
			wrong[fmt.Sprintf("steps[%d].agentId", i)] = true
		} else {
			d.wrongWithCall(wrong, i, a, check)
		}
		d.wrongWithGraph(wrong, i)
	}
	if !check {
		for id := range d.start.Inputs {
			wrong["inputs."+id] = !slices.ContainsFunc(steps, func(s countersign.TeamStep) bool { return s.ID == id })
		}
		for _, e := range d.executors.Executors {
			if e.Model != nil && len(e.Model.Document.States) == 0 && d.firstWithModel(e.Model.ID) == e.Agent.ID {
				wrong["model "+e.Model.ID] = true
			}
		}
	}
	maps.DeleteFunc(wrong, func(_ string, is bool) bool { return !is })
	return names(wrong)
}

// wrongWithCall judges what a step calls and with which inputs.
func (d drawnTeam) wrongWithCall(wrong map[string]bool, i int, a *countersign.Agent, check bool) {
	s, at := d.executors.Team.Steps[i], fmt.Sprintf("steps[%d].", i)
	run := d.start.Inputs[s.ID]
	if check {
		run = nil
	}
	p := d.executors.Projects[a.ProjectID].Project
	c := p.Capability(s.Capability)
	if c == nil || !slices.Contains(a.Capabilities, s.Capability) {
		wrong[at+"capability"] = true
	}
	if c == nil {
		return
	}
	fixed := a.ExecutorInputs[c.Name]
	for field := range fixed {
		_, inStep := s.Input[field]
		_, inRun := run[field]
		_, bound := s.InputBindings[field]
		for path, given := range map[string]bool{at + "input." + field: inStep, "inputs." + s.ID + "." + field: inRun, at + "inputBindings." + field: bound} {
			if given {
				wrong[path] = true
			}
		}
	}
	for _, field := range []string{"f0", "f1", "f9"} {
		v, given := last(field, s.Input, run, fixed)
		_, bound := s.InputBindings[field]
		declared, known := c.InputSchema[field]
		misfit := given && (!known || v.Kind().String() != declared.Type)
		missing := known && declared.Required && !given && !bound
		if misfit || missing && !check {
			wrong[at+"input."+field] = true
		}
		if bound && (given || !known) {
			wrong[at+"inputBindings."+field] = true
		}
	}
}

// wrongWithGraph judges a step's id and what it takes from others.
func (d drawnTeam) wrongWithGraph(wrong map[string]bool, i int) {
	steps := d.executors.Team.Steps
	s, at := steps[i], fmt.Sprintf("steps[%d].", i)
	if at := slices.IndexFunc(steps, func(other countersign.TeamStep) bool { return other.ID == s.ID }); at < i {
		wrong[fmt.Sprintf("steps[%d].id", i)] = true
	}
	for n, id := range s.DependsOn {
		if find(steps, id) == nil {
			wrong[fmt.Sprintf("%sdependsOn[%d]", at, n)] = true
		}
	}
	for field, b := range s.InputBindings {
		if find(steps, b.StepID) == nil || !dependsOn(steps, b.StepID, s.DependsOn) {
			wrong[at+"inputBindings."+field+".stepId"] = true
		}
	}
}

// dependsOn reports whether a step with these dependencies comes after the one of
// this id. Where an id stands twice, the first of them counts.
func dependsOn(steps []countersign.TeamStep, id string, dependencies []string) bool {
	before := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, d := range dependencies {
			if s := find(steps, d); s != nil && !before[d] {
				before[d], grown = true, true
				dependencies = append(slices.Clone(dependencies), s.DependsOn...)
			}
		}
	}
	return before[id]
}

func find(steps []countersign.TeamStep, id string) *countersign.TeamStep {
	for i := range steps {
		if steps[i].ID == id {
			return &steps[i]
		}
	}
	return nil
}

func (d drawnTeam) agent(id string) *countersign.Agent {
	for i := range d.executors.Executors {
		if d.executors.Executors[i].Agent.ID == id {
			return &d.executors.Executors[i].Agent
		}
	}
	return nil
}

// firstWithModel is the first executor with a model: it is judged once.
func (d drawnTeam) firstWithModel(id string) string {
	for _, e := range d.executors.Executors {
		if e.Model != nil && e.Model.ID == id {
			return e.Agent.ID
		}
	}
	return ""
}

// last is the field's value in the last layer that has it.
func last(field string, layers ...map[string]countersign.Value) (v countersign.Value, given bool) {
	for _, l := range layers {
		if is, has := l[field]; has {
			v, given = is, true
		}
	}
	return v, given
}
