package model_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// TestEachPlantedDefectIsFound: 200 mutants of 10 models, each with one defect
// planted, which is found there, and each witness replays.
func TestEachPlantedDefectIsFound(t *testing.T) {
	found, replays := map[string]int{}, 0
	for i, origin := range origins(t) {
		for j := range 20 {
			random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			doc := copied(t, origin)
			d := defects[(i+j)%len(defects)]
			path, code := d(random, doc)
			e := model.Explore(compiled(t, doc), 200_000)
			wantEqual(t, "complete", e.Complete, true)
			if !slices.ContainsFunc(e.Findings, func(f model.Finding) bool { return f.Path == path && f.Code == code }) {
				t.Errorf("model %d, mutant %d: no %s at %s among\n%s", i, j, code, path, encoded(t, e.Findings))
			}
			for _, f := range e.Findings {
				checkFinding(t, doc, f)
				if f.Witness != nil {
					replays++
				}
			}
			warnedOf(t, doc, path, code)
			found[code]++
		}
	}
	t.Logf("found: %v; %d witnesses replayed", found, replays)
}

// warnedOf checks that a validation says the same, if maybe in other words: what
// overlaps one that is always enabled is never taken.
func warnedOf(t *testing.T, doc *countersign.AgentModel, path, code string) {
	t.Helper()
	if code == model.StuckPossible || code == model.ScenarioCoversNothingNew {
		return
	}
	for _, w := range model.Validate(doc).Warnings {
		if w.Path == path && (w.Code == code || w.Code == model.TransitionNeverTaken && code == model.OverlappingTransitions) {
			return
		}
	}
	t.Errorf("validate doesn't warn of %s at %s:\n%s", code, path, found(model.Validate(doc).Warnings))
}

// origins are two models of people and eight that are made up, all of them
// without what is planted.
func origins(t *testing.T) []*countersign.AgentModel {
	var list []*countersign.AgentModel
	for _, file := range []string{"testdata/refund/model.json", "../../../docs/example/model.json"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var wrapped struct {
			Document json.RawMessage `json:"document"`
		}
		if json.Unmarshal(b, &wrapped) == nil && wrapped.Document != nil {
			b = wrapped.Document
		}
		list = append(list, parsed(t, b))
	}
	for seed := range uint64(8) {
		doc := workflow(rand.New(rand.NewPCG(seed, 7)), 8+4*int(seed), 3+int(seed)%4)
		if e := model.Explore(compiled(t, doc), 200_000); len(e.Transitions) < len(doc.Transitions) || len(e.TrapStates)+e.Loops+len(e.Overlaps) > 0 {
			t.Fatalf("model %d isn't sound: %s", seed, encoded(t, e.Findings))
		}
		list = append(list, doc)
	}
	return list
}

// workflow is a model of n states, each but the last with three transitions that
// go on: by a number, by a choice or boolean, and otherwise.
func workflow(random *rand.Rand, n, inputs int) *countersign.AgentModel {
	doc := &countersign.AgentModel{Variables: []countersign.Variable{input("amount", "number", raw("10")), memory("seen", "boolean", raw("false"))}}
	for i := range inputs {
		v := input(fmt.Sprint("flag", i), "boolean", raw("false"))
		if i%2 == 1 {
			v = input(fmt.Sprint("flag", i), "choice", null, "true", "other")
		}
		doc.Variables = append(doc.Variables, v)
	}
	doc.Actions = []countersign.Action{action("see", "seen", sets("seen", raw("true")))}
	for i := range n {
		id := fmt.Sprint("s", i)
		doc.States = append(doc.States, countersign.ModelState{ID: id, IsStart: i == 0, IsFinal: i == n-1})
		if i == n-1 {
			break
		}
		on := func(most int) string { return fmt.Sprint("s", min(n-1, i+1+random.IntN(most))) }
		flag := doc.Variables[2+i%inputs]
		yes := raw("true")
		if flag.Type == "choice" {
			yes = text("true")
		}
		next := fmt.Sprint("s", i+1)
		if i < inputs { // before it is known, as it stands in states that come later
			doc.Transitions = append(doc.Transitions, arrow("flag-"+id, id, on(3), predicate(flag.ID, "eq", yes)))
		}
		doc.Transitions = append(doc.Transitions, acting(ranked(arrow("on-"+id, id, next, and()), 9), "see"))
	}
	doc.Transitions = append(doc.Transitions,
		ranked(arrow("small", "s0", "s1", predicate("amount", "lt", raw("100"))), 2),
		ranked(arrow("large", "s0", "s2", predicate("amount", "gte", raw("1e3"))), 2))
	doc.Scenarios = []countersign.Scenario{{ID: "s", ExpectedStateID: doc.States[n-1].ID}}
	return doc
}

func copied(t *testing.T, doc *countersign.AgentModel) *countersign.AgentModel {
	t.Helper()
	return parsed(t, []byte(encoded(t, doc)))
}

// defects plant something and say where it is to be found, and by which code.
// What they add is tried before everything, behind a new input.
var defects = []func(*rand.Rand, *countersign.AgentModel) (path, code string){
	func(r *rand.Rand, d *countersign.AgentModel) (string, string) { // overlap
		old := d.Transitions[taken(r, d)]
		d.Variables = append(d.Variables, input("planted", "boolean", null))
		fresh := arrow("planted", old.FromStateID, another(d, old.ToStateID), or(predicate("planted", "eq", raw("true")), old.Condition))
		fresh.Priority = old.Priority
		d.Transitions = append(d.Transitions, fresh)
		return transitionPath(len(d.Transitions) - 1), model.OverlappingTransitions
	},
	func(r *rand.Rand, d *countersign.AgentModel) (string, string) { // no run comes there
		from := d.Transitions[taken(r, d)].FromStateID
		d.Variables = append(d.Variables, memory("planted", "number", raw("0")))
		plant(d, from, "planted", predicate("planted", "gt", raw("3")))
		d.States = append(d.States, countersign.ModelState{ID: "planted", IsFinal: true})
		return lastState(d), model.UnreachableState
	},
	func(r *rand.Rand, d *countersign.AgentModel) (string, string) { // never fires: the opposite was decided on the way
		i := taken(r, d)
		d.Variables = append(d.Variables, input("planted", "choice", null, "a", "b", "c"))
		d.States = append(d.States, countersign.ModelState{ID: "after"})
		to := d.Transitions[i].ToStateID
		plant(d, d.Transitions[i].FromStateID, "after", predicate("planted", "neq", text("b")))
		d.Transitions = append(d.Transitions, ranked(arrow("go on", "after", to, predicate("planted", "isKnown")), 1),
			arrow("never", "after", to, predicate("planted", "eq", text("b"))))
		return transitionPath(len(d.Transitions) - 1), model.TransitionNeverTaken
	},
	func(r *rand.Rand, d *countersign.AgentModel) (string, string) { // trap
		loop(r, d)
		return fmt.Sprintf("states[%d]", len(d.States)-2), model.TrapState
	},
	func(r *rand.Rand, d *countersign.AgentModel) (string, string) { // loop
		loop(r, d)
		return fmt.Sprintf("states[%d]", len(d.States)-2), model.LoopPossible
	},
	func(r *rand.Rand, d *countersign.AgentModel) (string, string) { // stuck
		from := d.Transitions[taken(r, d)].FromStateID
		d.Variables = append(d.Variables, input("planted", "number", null))
		d.States = append(d.States, countersign.ModelState{ID: "halt"})
		plant(d, from, "halt", predicate("planted", "gte", raw("7")))
		d.Transitions = append(d.Transitions, arrow("out", "halt", from, predicate("planted", "lt", raw("8"))))
		return lastState(d), model.StuckPossible
	},
	func(r *rand.Rand, d *countersign.AgentModel) (string, string) { // a scenario twice
		again := d.Scenarios[r.IntN(len(d.Scenarios))]
		again.ID = "again"
		d.Scenarios = append(d.Scenarios, again)
		return fmt.Sprintf("scenarios[%d]", len(d.Scenarios)-1), model.ScenarioCoversNothingNew
	},
}

// loop plants two states that lead to each other.
func loop(r *rand.Rand, d *countersign.AgentModel) {
	from := d.Transitions[taken(r, d)].FromStateID
	d.Variables = append(d.Variables, input("planted", "boolean", null))
	d.States = append(d.States, countersign.ModelState{ID: "to"}, countersign.ModelState{ID: "fro"})
	plant(d, from, "to", predicate("planted", "eq", raw("true")))
	d.Transitions = append(d.Transitions, arrow("there", "to", "fro", and()), arrow("back", "fro", "to", predicate("planted", "isKnown")))
}

// plant adds a transition that is tried before all others.
func plant(d *countersign.AgentModel, from, to string, condition countersign.Condition) {
	for i := range d.Transitions {
		d.Transitions[i].Priority++
	}
	d.Transitions = append(d.Transitions, arrow("planted", from, to, condition))
}

// taken draws a transition that some run takes.
func taken(r *rand.Rand, d *countersign.AgentModel) int {
	m, err := model.Compile(d)
	if err != nil {
		panic(err)
	}
	ids := model.Explore(m, 200_000).Transitions
	id := ids[r.IntN(len(ids))]
	return slices.IndexFunc(d.Transitions, func(t countersign.Transition) bool { return t.ID == id })
}

func another(d *countersign.AgentModel, state string) string {
	for _, s := range d.States {
		if s.ID != state {
			return s.ID
		}
	}
	return state
}

func lastState(d *countersign.AgentModel) string {
	return fmt.Sprintf("states[%d]", len(d.States)-1)
}
