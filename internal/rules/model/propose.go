package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
)

// proposer creates scenarios until every transition that a run can take is covered.
type proposer struct {
	*survey
	covered []bool
	ids     map[string]int // of the model's scenarios
	looped  []bool
	used    map[string]bool
	list    []countersign.Scenario
}

// missing marks the transitions that a run can take and no scenario covers.
func (p *proposer) missing() []bool {
	missing := make([]bool, len(p.taken))
	for i := range missing {
		missing[i] = p.taken[i] && !p.covered[i]
	}
	return missing
}

// edgeRef identifies an edge by its pair and index.
type edgeRef struct{ pair, edge int32 }

// propose starts with the transitions that are found last: a long path covers the
// transitions on it.
func (p *proposer) propose() {
	crossings := p.bestEdges()
	p.onlyLooping(crossings)
	slices.SortStableFunc(crossings, func(a, b edgeRef) int { return cmp.Compare(b.pair, a.pair) })
	for _, c := range crossings {
		y := p.pairs[c.pair].edges[c.edge]
		if p.covered[p.m.arcs[y.arc].index] {
			continue
		}
		if w, ok := p.witnessThrough(c); ok && w.Outcome != countersign.OutcomeLoop {
			p.add(p.m.arcs[y.arc].transition, w)
		}
	}
}

// onlyLooping marks the missing transitions that no terminating run takes. An
// incomplete exploration marks none.
func (p *proposer) onlyLooping(crossings []edgeRef) {
	p.looped = make([]bool, len(p.taken))
	if !p.complete() {
		return
	}
	p.looped = p.missing()
	for _, c := range crossings {
		p.looped[p.m.arcs[p.pairs[c.pair].edges[c.edge].arc].index] = false
	}
}

// bestEdges picks, for each missing transition, an edge from which a run can end,
// preferably in a final state, else stuck. A scenario that loops never passes.
func (p *proposer) bestEdges() []edgeRef {
	missing, best := p.missing(), map[int]edgeRef{}
	for i := range p.pairs {
		for j, y := range p.pairs[i].edges {
			index := p.m.arcs[y.arc].index
			c := edgeRef{int32(i), int32(j)}
			old, found := best[index]
			if missing[index] && p.merit(c) > 0 && (!found || p.merit(c) > p.merit(old)) {
				best[index] = c
			}
		}
	}
	var list []edgeRef
	for i := range missing {
		if c, ok := best[i]; ok {
			list = append(list, c)
		}
	}
	return list
}

func (p *proposer) merit(c edgeRef) int {
	switch to := p.pairs[c.pair].edges[c.edge].to; {
	case p.paths.toFinal[to] != none:
		return 2
	case p.paths.toStuck[to] != none:
		return 1
	default:
		return 0
	}
}

// witnessThrough creates a run that takes an edge and then a shortest path to an end.
func (p *proposer) witnessThrough(c edgeRef) (Witness, bool) {
	y := p.pairs[c.pair].edges[c.edge]
	fate := p.paths.toFinal
	if fate[y.to] == none {
		fate = p.paths.toStuck
	}
	left := slices.Clone(y.narrowed)
	at := y.to
	for fate[at] >= 0 {
		next := p.pairs[at].edges[fate[at]]
		left = append(left, next.narrowed...)
		at = next.to
	}
	left = append(left, p.pairs[at].stuckInputs...)
	slices.Reverse(left) // the last restriction of each input is the smallest: it goes first
	return p.witness(c.pair, left)
}

func (p *proposer) add(t *countersign.Transition, w Witness) {
	fresh := p.m.cover(p.covered, w.course.arcs)
	w.Scenario.ID = p.unused("covers-" + t.ID)
	w.Scenario.Name = fmt.Sprintf("Takes %s", clipped(t.ID))
	w.Scenario.Description = fmt.Sprintf("Proposed by explore: no other scenario takes %s.", some(fresh))
	p.list = append(p.list, w.Scenario)
}

func (p *proposer) unused(id string) string {
	name := id
	for n := 2; p.isUsed(name); n++ {
		name = id + "-" + strconv.Itoa(n)
	}
	p.used[name] = true
	return name
}

func (p *proposer) isUsed(id string) bool {
	_, used := p.ids[id]
	return used || p.used[id]
}
