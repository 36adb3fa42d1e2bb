package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
)

// Codes of findings.
const (
	neverHolds   = "rule_never_holds"
	neverDecides = "rule_never_decides"
	changesNone  = "rule_changes_nothing"
	openBound    = "number_unbounded"
	rangeUnasked = "range_unasked"
	notExamined  = "not_examined"
)

// Findings lists what contradicts itself in a project's rules, and the gaps that they
// leave, each with inputs that show it. It claims nothing that it has not tried: what the
// meter has no steps left for is named as not examined.
func Findings(m *cost.Meter, p *countersign.Project) []countersign.Problem {
	out := []countersign.Problem{}
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		if len(c.ApprovalRules) == 0 {
			continue
		}
		at := fmt.Sprintf("capabilities[%d].approvalRules", i)
		found, ok := examine(m, c, at)
		if !ok {
			found = []countersign.Problem{{Path: at, Code: notExamined, Message: "the rules distinguish too many cases to examine; compare fewer inputs, or each with fewer values"}}
		}
		out = append(out, found...)
	}
	return out
}

// examine finds what is wrong with one capability's rules; false where the meter has too few
// steps for all of it.
func examine(m *cost.Meter, c *countersign.Capability, at string) ([]countersign.Problem, bool) {
	t, ok := newTable(false, c.ApprovalRules)
	if !ok || !m.Take(t.steps*(2+3*len(t.paths)), at) {
		return nil, false
	}
	e := examined{capability: c, table: t, at: at, meter: m}
	found := slices.Concat(e.rules(), e.bounds(), e.ranges())
	return found, !m.Over()
}

// examined is a capability with the table of its rules.
type examined struct {
	capability *countersign.Capability
	table      *table
	at         string // the path of its rules
	meter      *cost.Meter
}

// occurrence is where a rule holds in the table.
type occurrence struct {
	held, decided bool
	changes       bool    // without it something else would be said
	shown         row     // one that shows it best
	over          Verdict // what is said there
}

// rules finds the rules that never hold, and those that never decide where they hold.
func (e examined) rules() (out []countersign.Problem) {
	rules := e.capability.ApprovalRules
	found := make([]occurrence, len(rules))
	e.table.each(func(at row) bool {
		v := judge(Now, e.capability, at.reader())
		for i := range rules {
			o := &found[i]
			if o.decided && o.changes || holds(&rules[i].When, at.reader()) != isTrue {
				continue
			}
			o.changes = o.changes || e.changed(v, i)
			if o.decided {
				continue
			}
			decides := v.Then == rules[i].Then
			if !o.held || decides || at.present() > o.shown.present() { // more inputs say more to a reader
				o.shown, o.over = at.clone(), v
			}
			o.held, o.decided = true, decides
		}
		return true
	})
	for i, o := range found {
		w, ok := countersign.Value{}, false
		if o.held && (!o.decided || !o.changes) {
			w, ok = e.witness(o.shown, o.over)
		}
		switch {
		case !o.held:
			out = append(out, e.problem(i, neverHolds, "no inputs make its condition true", w))
		case ok && o.decided:
			out = append(out, e.problem(i, changesNone, fmt.Sprintf("without this ALLOW the same is let out: %s, by %s; remove it, or have approval ask for what no rule names", w.Raw(), e.otherwise(o.over, i)), w))
		case ok:
			out = append(out, e.problem(i, neverDecides, fmt.Sprintf("wherever this %s holds, a severer answer wins: for %s it is %s", rules[i].Then, w.Raw(), e.by(o.over)), w))
		}
	}
	return out
}

// changed reports that a rule is why this is said: an ALLOW changes only what approval would
// ask for.
func (e examined) changed(v Verdict, rule int) bool {
	return e.capability.ApprovalRules[rule].Then != countersign.RuleAllow ||
		slices.Equal(v.Rules, []int{rule}) && byApproval(Now, e.capability) != countersign.RuleAllow
}

// otherwise says what lets the same out without an ALLOW.
func (e examined) otherwise(v Verdict, rule int) string {
	for _, other := range v.Rules {
		if other != rule {
			return fmt.Sprintf("approvalRules[%d]", other)
		}
	}
	return "approval " + e.capability.ApprovalPolicy()
}

// by says what decides.
func (e examined) by(v Verdict) string {
	if len(v.Rules) == 0 {
		return v.Then + " by approval " + e.capability.ApprovalPolicy()
	}
	return fmt.Sprintf("%s by approvalRules[%d]", v.Then, v.Rules[0])
}

// bounds finds numbers that the rules bound on one side only: at one end of the numbers
// requests are let out, at the other, with the same other inputs, they are not. An end that
// the input's own declaration closes is bounded.
func (e examined) bounds() (out []countersign.Problem) {
	for i, path := range e.table.paths {
		low, high := e.table.ends(i)
		if low < 0 {
			continue
		}
		var found *countersign.Problem
		e.table.each(func(r row) bool {
			if r.choice[i] != low {
				return true
			}
			lowest, highest := r.with(i, low), r.with(i, high)
			atLow, atHigh := judge(Now, e.capability, lowest.reader()), judge(Now, e.capability, highest.reader())
			free, end, other := lowest, "lower", "upper"
			switch {
			case atLow.Then == atHigh.Then || atLow.Then != countersign.RuleAllow && atHigh.Then != countersign.RuleAllow:
				return true
			case atHigh.Then == countersign.RuleAllow:
				free, end, other = highest, "upper", "lower"
			}
			if e.closed(path, end) {
				return true
			}
			v := judge(Now, e.capability, free.reader())
			if w, ok := e.witness(free, v); ok {
				found = &countersign.Problem{Code: openBound, Witness: w, Path: e.where(path),
					Message: fmt.Sprintf("%s has a bound at its %s end and none at its %s end: %s is let out, %s; add the other bound", path, other, end, w.Raw(), e.by(v))}
			}
			return found == nil && !e.meter.Over()
		})
		if found != nil {
			out = append(out, *found)
		}
	}
	return out
}

// ranges finds numbers between those that rules name which go out unasked: who let some out
// by a rule, or leaves several such gaps, thinks that what no rule names is asked for. What
// two rules fence, with nothing let out beyond them, is meant.
func (e examined) ranges() (out []countersign.Problem) {
	for i, path := range e.table.paths {
		low, high := e.table.ends(i)
		if low < 0 || len(e.capability.InputSchema[path].Enum) > 0 {
			continue
		}
		var found *countersign.Problem
		e.table.each(func(r row) bool {
			if r.choice[i] != low {
				return true
			}
			at := e.unasked(r, i, low, high)
			if at < 0 {
				return true
			}
			free := r.with(i, at)
			v := judge(Now, e.capability, free.reader())
			if w, ok := e.witness(free, v); ok && e.fits(free) {
				found = &countersign.Problem{Code: rangeUnasked, Witness: w, Path: e.where(path),
					Message: fmt.Sprintf("a range of %s between the rules goes out with nobody asked: %s, %s; name it in a rule, or have approval ask for what no rule names", path, w.Raw(), e.by(v))}
			}
			return found == nil && !e.meter.Over()
		})
		if found != nil {
			out = append(out, *found)
		}
	}
	return out
}

// unasked is the choice of a number that no rule names and nobody is asked for, between some
// that rules name; -1 if there is none.
func (e examined) unasked(r row, path, low, high int) int {
	first, gaps, allows, named, open := -1, 0, false, false, -1
	for c := low; c <= high; c++ {
		v := judge(Now, e.capability, r.with(path, c).reader())
		free := len(v.Rules) == 0 && v.Then == countersign.RuleAllow
		switch {
		case free && open < 0:
			open, gaps = c, gaps+1
		case !free && open >= 0:
			if named && first < 0 {
				first = open
			}
			open = -1
		}
		if !free {
			named, allows = true, allows || v.Then == countersign.RuleAllow
		}
	}
	if !allows && gaps < 2 {
		return -1
	}
	return first
}

// fits reports a row of inputs that the capability takes.
func (e examined) fits(r row) bool {
	if !e.meter.Take(r.size(), e.at) {
		return false
	}
	input, ok := r.inputs()
	return ok && len(request.CheckGiven(e.meter, e.capability, input, nil)) == 0
}

// closed reports that no number beyond the one at that end of a path ever reaches the
// rules. A path with a dot may be read in several ways, of which one is declared.
func (e examined) closed(path, end string) bool {
	f, ok := e.capability.InputSchema[path]
	switch {
	case !ok || strings.Contains(path, "."):
		return false
	case len(f.Enum) > 0:
		return true
	case end == "lower":
		return !f.Minimum.IsZero()
	default:
		return !f.Maximum.IsZero()
	}
}

// where is the path of the first rule that compares an input.
func (e examined) where(path string) string {
	for i := range e.capability.ApprovalRules {
		named := false
		EachPredicate(&e.capability.ApprovalRules[i].When, func(p *countersign.Predicate) { named = named || p.VariableID == path })
		if named {
			return fmt.Sprintf("%s[%d].when", e.at, i)
		}
	}
	return e.at
}

// ends are the choices of a path that are its least and its greatest number; -1 where it is
// compared with none.
func (t *table) ends(path int) (low, high int) {
	low = -1
	for i, r := range t.values[path] {
		if r.Value.Kind() != countersign.KindNumber {
			continue
		}
		if low < 0 {
			low = i
		}
		high = i
	}
	return low, high
}

// witness gives a row as inputs, if they lead to that verdict.
func (e examined) witness(r row, v Verdict) (countersign.Value, bool) {
	if !e.meter.Take(r.size(), e.at) {
		return countersign.Value{}, false
	}
	input, ok := r.inputs()
	if !ok {
		return countersign.Value{}, false
	}
	again := Judge(e.meter, Now, e.capability, input, nil)
	return countersign.ObjectValue(input), again.Then == v.Then && slices.Equal(again.Rules, v.Rules)
}

func (e examined) problem(rule int, code, message string, witness countersign.Value) countersign.Problem {
	return countersign.Problem{Path: fmt.Sprintf("%s[%d]", e.at, rule), Code: code, Message: message, Witness: witness}
}
