package control_test

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// putTeam writes a team of any agents.
func (w *world) putTeam(t *rapid.T) {
	a := w.somebody(t)
	b := w.books[a.Tenant]
	id := rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, "team")
	var members []string
	for _, m := range rapid.Permutation(agentsOf(b)).Draw(t, "members") {
		if b.agents[m].Status == countersign.AgentAdmitted && b.agents[m].ModelID != "" || rapid.IntRange(0, 9).Draw(t, "anyone") == 9 {
			members = append(members, m)
		}
	}
	if rapid.IntRange(0, 14).Draw(t, "stray") == 14 {
		members = append(members, w.one(t, nil, agentsOf, a))
	}
	write := teamOf(members)
	for i := range rapid.IntRange(0, 3).Draw(t, "steps") {
		if len(members) > 0 {
			write.Steps = append(write.Steps, drawTeamStep(t, b, i, members))
		}
	}
	if known := b.teams[id]; known != nil {
		write.ExpectedRevision = known.Revision
	}
	if rapid.IntRange(0, 9).Draw(t, "stale") == 9 {
		write.ExpectedRevision++
	}
	got, err := w.service.PutTeam(background, a, id, write)
	if !w.answered(t, a, access.WriteTeam, "team/"+id, b.putTeam(a, id, write), err) {
		return
	}
	next := &countersign.Team{ID: id, Revision: 1, Name: write.Name, Members: write.Members, Steps: write.Steps, CreatedAt: w.at, UpdatedAt: w.at}
	if was := b.teams[id]; was != nil {
		next.Revision, next.Suspended, next.CreatedAt = was.Revision+1, was.Suspended, was.CreatedAt
	}
	b.teams[id] = next
	b.done(a, access.WriteTeam, "team/"+id)
	same(t, "answer", *next, got)
}

// drawTeamStep draws a step that mostly fits its agent and the steps before it.
func drawTeamStep(t *rapid.T, b *referenceModel, i int, members []string) countersign.TeamStep {
	slip := func(what string) bool { return rapid.IntRange(0, 29).Draw(t, what) == 29 }
	s := pings(fmt.Sprintf("s%d", i), rapid.SampledFrom(members).Draw(t, "by"))
	s.Input = map[string]countersign.Value{}
	if slip("not a member") {
		s.AgentID = "nobody"
	}
	known := b.agents[s.AgentID]
	if known != nil {
		s.Capability = rapid.SampledFrom(known.Capabilities).Draw(t, "capability")
	}
	if i > 0 && rapid.Bool().Draw(t, "depends") {
		s.DependsOn = []string{fmt.Sprintf("s%d", i-1)}
	}
	if slip("depends on nothing") {
		s.DependsOn = append(s.DependsOn, "s9")
	}
	switch s.Capability {
	case "look":
		s.Input["key"] = countersign.RawValue(rapid.SampledFrom([]string{`"k-1"`, `"k-2"`}).Draw(t, "key"))
	case "note":
		if rapid.IntRange(0, 3).Draw(t, "leaves") > 0 {
			s.Input["text"] = countersign.String("hi")
		}
		fixed := known != nil && !known.ExecutorInputs["note"]["level"].IsZero()
		if len(s.DependsOn) > 0 && (!fixed || slip("fixed")) {
			s.InputBindings = map[string]countersign.Binding{"level": {StepID: s.DependsOn[0], Field: "n"}}
		}
	}
	if slip("undeclared") {
		s.Input["other"] = countersign.Int(1)
	}
	return s
}

func (w *world) toggleTeam(t *rapid.T) {
	a := w.somebody(t)
	b := w.books[a.Tenant]
	id := w.one(t, teamsOf(b), func(*referenceModel) []string { return nil }, a)
	op, ask := access.ResumeTeam, w.service.ResumeTeam
	suspend := rapid.Bool().Draw(t, "suspend")
	if suspend {
		op, ask = access.SuspendTeam, w.service.SuspendTeam
	}
	got, err := ask(background, a, id, "why")
	if !w.answered(t, a, op, "team/"+id, b.toggleTeam(a, id), err) {
		return
	}
	if is := b.teams[id]; is.Suspended != suspend {
		is.Suspended, is.UpdatedAt = suspend, w.at
		if suspend {
			is.Revision++
		}
		b.done(a, op, "team/"+id)
	}
	same(t, "answer", *b.teams[id], got)
}

// startRequest is a start as somebody asked for it.
type startRequest struct {
	id, key string
	agent   countersign.AgentRunStart
	team    countersign.TeamRunStart
	isTeam  bool
}

// content is all of an order but its key.
func (s startRequest) content(t *rapid.T) string {
	text, err := countersign.Marshal([]any{s.isTeam, s.id, s.agent, s.team})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// drawOrder completes a start with a key; at times it is an earlier one again, or
// another one under the same key.
func (w *world) drawOrder(t *rapid.T, o startRequest) startRequest {
	earlier := slices.DeleteFunc(slices.Clone(w.orders), func(e startRequest) bool { return e.isTeam != o.isTeam })
	w.keys++
	o.key = fmt.Sprintf("key-%d", w.keys)
	if len(earlier) > 0 {
		switch rapid.IntRange(0, 9).Draw(t, "again") {
		case 7, 8:
			return rapid.SampledFrom(earlier).Draw(t, "order")
		case 9:
			o.key = rapid.SampledFrom(w.orders).Draw(t, "order").key
		}
	}
	w.orders = append(w.orders, o)
	return o
}

var modes = []string{"", countersign.ModeDryRun, countersign.ModeLive, countersign.ModeLive}

var done = &countersign.Expectation{Field: "state", Equals: countersign.String("done")}

func (w *world) startAgent(t *rapid.T) {
	a := w.somebody(t)
	b := w.books[a.Tenant]
	s := countersign.AgentRunStart{Mode: rapid.SampledFrom(modes).Draw(t, "mode"), Inputs: map[string]countersign.Value{}, Expectation: done}
	if rapid.IntRange(0, 9).Draw(t, "expects nothing") == 9 {
		s.Expectation = nil
	}
	s.Capability = rapid.SampledFrom([]string{"ping", "note", "look", "note"}).Draw(t, "capability")
	switch s.Capability {
	case "look":
		s.Inputs["key"] = countersign.RawValue(rapid.SampledFrom([]string{`"k-1"`, `"k-1"`, `"../k"`}).Draw(t, "key"))
	case "note":
		s.Inputs["text"] = countersign.String("hi")
		if rapid.IntRange(0, 4).Draw(t, "level") == 4 {
			s.Inputs["level"] = countersign.Int(3)
		}
	}
	id := w.one(t, agentsOf(b), agentsOf, a)
	if known := b.agents[id]; known != nil {
		s.ExpectedRevision = known.Revision - rapid.SampledFrom([]int64{0, 0, 0, 0, 1}).Draw(t, "stale")
	}
	o := w.drawOrder(t, startRequest{id: id, agent: s})
	want, earlier := b.startAgent(a, o.id, o.agent, o.key, o.content(t))
	var got control.Started
	err := w.authorized(a, access.StartAgentRun, "agent/"+o.id, func() (err error) {
		got, err = w.service.StartAgentRun(background, a, o.id, o.agent, o.key)
		return err
	})
	if w.answered(t, a, access.StartAgentRun, "agent/"+o.id, want, err) {
		w.begun(t, a, o, earlier, got, nil, []countersign.TeamMember{{AgentID: o.id}})
	}
}

func (w *world) startTeam(t *rapid.T) {
	a := w.somebody(t)
	b := w.books[a.Tenant]
	id := w.one(t, teamsOf(b), func(*referenceModel) []string { return nil }, a)
	s := countersign.TeamRunStart{Mode: rapid.SampledFrom(modes).Draw(t, "mode"), Inputs: map[string]map[string]countersign.Value{}}
	if known := b.teams[id]; known != nil {
		s.ExpectedRevision = known.Revision - rapid.SampledFrom([]int64{0, 0, 0, 0, 1}).Draw(t, "stale")
		for _, step := range known.Steps {
			if step.Capability == "note" && rapid.IntRange(0, 3).Draw(t, "gives") > 0 {
				s.Inputs[step.ID] = values("text", `"run"`)
			}
		}
	}
	if rapid.IntRange(0, 19).Draw(t, "stray") == 19 {
		s.Inputs["s9"] = nil
	}
	o := w.drawOrder(t, startRequest{id: id, team: s, isTeam: true})
	want, earlier := b.startTeam(a, o.id, o.team, o.key, o.content(t))
	got, err := w.service.StartTeamRun(background, a, o.id, o.team, o.key)
	if w.answered(t, a, access.StartTeamRun, "team/"+o.id, want, err) {
		w.begun(t, a, o, earlier, got, b.teams[o.id], b.teams[o.id].Members)
	}
}

// begun writes a run into the reference model and looks at it, or, when its key had started
// one before, sees that it is the same.
func (w *world) begun(t *rapid.T, a control.Actor, o startRequest, earlier *started, got control.Started, team *countersign.Team, members []countersign.TeamMember) {
	b := w.books[a.Tenant]
	if got.Replayed != (earlier != nil) || earlier != nil && got.Run.ID != earlier.id {
		t.Fatalf("run %s, replayed %v, want %+v", got.Run.ID, got.Replayed, earlier)
	}
	if earlier != nil {
		return
	}
	b.runs[o.key] = &started{id: got.Run.ID, planID: got.Run.PlanID, order: o.content(t), projects: b.systems(members), seen: b.sees(team, members)}
	b.log = append(b.log, entry(a.ID, "runs.start", "run/"+got.Run.ID, "done"))
	mode := o.agent.Mode + o.team.Mode
	if mode == "" {
		mode = countersign.ModeDryRun
	}
	if got.Run.Status != countersign.RunReady || got.Run.Mode != mode || got.Run.IdempotencyKey != o.key || got.Run.RequestedBy != a.ID {
		t.Fatalf("%+v", got.Run)
	}
	for _, s := range got.Run.Steps {
		if is := b.agents[s.AgentID]; is == nil || is.ProjectID != s.ProjectID || !slices.Contains(is.Capabilities, s.Capability) {
			t.Fatalf("step %+v", s)
		}
	}
	seen := map[string]int64{}
	p := got.Run.PlanSnapshot
	for _, ref := range p.Agents {
		seen["agent/"+ref.ID] = ref.Revision
		if ref.ModelID != "" {
			seen["model/"+ref.ModelID] = ref.ModelRevision
		}
	}
	if p.Team != nil {
		seen["team/"+p.Team.ID] = p.Team.Revision
	}
	if diff := cmp.Diff(b.runs[o.key].seen, seen); diff != "" {
		t.Fatalf("the plan is made from %s", diff)
	}
}
