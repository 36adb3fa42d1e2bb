package evaluator

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Guard is what holds a capability's requests back, as far as edits of it are drawn. "" and 0 stand for what isn't there.
type Guard struct {
	Approval    string // ALWAYS, RISK_BASED, NONE
	AskAbove    string // an ASK rule: amounts above it
	Approvals   int    // of that rule
	Groups      []string
	AllowTo     string // an ALLOW rule: amounts up to it
	DenyAbove   string // a DENY rule
	Budget      int    // a budget by count
	Window      string
	Then        string // of the budget
	Expectation string // the status that is expected
	Probe       string
	Header      string // the value of a fixed header
	Sensitive   []string
	Must        string // the status that the precondition wants
	PathText    bool
	Timeout     int // which guards nothing
}

// Edits draws a guard and edits of it, one change each.
func Edits(seed uint64) (out []Guard) {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 58))}
	g := Guard{Approval: pick(d, "RISK_BASED", "NONE"), Timeout: 1000}
	for range 10 {
		d.edit(&g)
	}
	for range 10 {
		out = append(out, g)
		d.edit(&g)
	}
	return append(out, g)
}

func (d *drawing) edit(g *Guard) {
	numbers := []string{"", "10", "20", "20.0", "30"}
	switch d.IntN(15) {
	case 0:
		if g.Approval = pick(d, "ALWAYS", "RISK_BASED", "NONE"); g.AllowTo != "" && g.Approval == "ALWAYS" {
			g.Approval = "NONE"
		}
	case 1:
		g.AskAbove = pick(d, numbers...)
	case 2:
		g.Approvals = 1 + d.IntN(3)
	case 3:
		g.Groups = pick(d, nil, []string{"finance"}, []string{"finance", "legal"})
	case 4:
		if g.Approval != "ALWAYS" {
			g.AllowTo = pick(d, numbers...)
		}
	case 5:
		g.DenyAbove = pick(d, "", "40", "50")
	case 6:
		g.Budget, g.Window, g.Then = d.IntN(3), "24h", "ASK"
	case 7:
		g.Window = pick(d, "1h", "24h", "1440m")
	case 8:
		g.Then = pick(d, "ASK", "DENY")
	case 9:
		g.Expectation = pick(d, "", "done", "paid")
	case 10:
		g.Probe = pick(d, "", "find", "look")
	case 11:
		g.Header = pick(d, "", "1", "2")
	case 12:
		g.Sensitive = pick(d, nil, []string{"who"}, []string{"amount", "who"})
	case 13:
		g.Must = pick(d, "", "open", "ready")
	default:
		if g.Timeout = 1000 + d.IntN(2); d.chance(2) {
			g.PathText = !g.PathText
		}
	}
}

// Open reports an edit of which the contract doesn't say whether it weakens: an ALLOW that is removed ("a rule removed", and
// less is allowed), or widened ("an ALLOW added or widened") where that releases nothing; an ASK that is narrowed where the
// policy asks as much.
func Open(was, now Guard) bool {
	removed := was.AllowTo != "" && now.AllowTo == ""
	changed := was.AllowTo != now.AllowTo
	narrowed := was.AskAbove != "" && now.AskAbove != "" && was.AskAbove != now.AskAbove && now.Approval != "NONE" && now.Approvals < 2 && len(now.Groups) == 0
	return removed || narrowed || changed && (now.Approval != "RISK_BASED" || now.AskAbove != "" || now.DenyAbove != "")
}

// Weakens says by 11, 12.1 and 12.7 whether an edit weakens what guards.
func Weakens(was, now Guard, negated string) bool {
	e := &Evaluator{negated: negated}
	levels := []string{"NONE", "RISK_BASED", "ALWAYS"}
	lowered := slices.Index(levels, now.Approval) < slices.Index(levels, was.Approval)
	return e.loosens("approval-lowered", lowered) ||
		e.loosens("ask-widened", above(was.AskAbove, now.AskAbove)) || e.loosens("deny-widened", above(was.DenyAbove, now.DenyAbove)) ||
		was.AskAbove != "" && now.AskAbove != "" && (e.loosens("fewer-approvals", now.Approvals < was.Approvals) || e.loosens("fewer-groups", fewer(was.Groups, now.Groups)) ||
			e.loosens("others-decide", len(was.Groups) > 0 && was.Approvals > 1 && fewer(now.Groups, was.Groups))) ||
		e.loosens("allow-widened", now.AllowTo != "" && (was.AllowTo == "" || less(was.AllowTo, now.AllowTo))) ||
		e.loosens("budget-widened", was.Budget > 0 && (now.Budget == 0 || now.Budget > was.Budget || shorter(now.Window, was.Window) || was.Then == "DENY" && now.Then == "ASK")) ||
		e.loosens("expectation-changed", was.Expectation != "" && now.Expectation != was.Expectation) ||
		e.loosens("probe-changed", was.Probe != "" && now.Probe != was.Probe) ||
		e.loosens("headers-change", now.Header != was.Header) ||
		e.loosens("fewer-sensitive", fewer(was.Sensitive, now.Sensitive)) ||
		e.loosens("precondition-changed", was.Must != "" && now.Must != was.Must) ||
		e.loosens("path-text", now.PathText && !was.PathText)
}

func (e *Evaluator) loosens(sentence string, is bool) bool { return is && sentence != e.negated }

// above: a rule that holds above a bound is removed, or its bound raised.
func above(was, now string) bool { return was != "" && (now == "" || less(was, now)) }

func less(a, b string) bool {
	x, _ := parse(a)
	y, _ := parse(b)
	m, _ := number(x)
	n, _ := number(y)
	return m.Cmp(n) < 0
}

func fewer(was, now []string) bool {
	return slices.ContainsFunc(was, func(one string) bool { return !slices.Contains(now, one) })
}

func shorter(a, b string) bool {
	x, _ := time.ParseDuration(a)
	y, _ := time.ParseDuration(b)
	return x < y
}

// weakenings are the sentences of Weakens. Negated, one counts for nothing.
var weakenings = map[string]string{
	"approval-lowered":     "11: an approval lowered",
	"ask-widened":          "11: a rule removed or widened",
	"deny-widened":         "11: a rule removed or widened",
	"fewer-approvals":      "11: a rule widened",
	"fewer-groups":         "11: a rule widened",
	"others-decide":        "11: a rule widened: of several approvals, members of a group that is added may give all but one",
	"allow-widened":        "11: an ALLOW added or widened",
	"budget-widened":       "11: a budget removed or widened",
	"expectation-changed":  "11: an expectation changed or removed; a first one doesn't",
	"probe-changed":        "11: a probe changed",
	"headers-change":       "12.1: where headers change",
	"fewer-sensitive":      "12.1: sensitive gets fewer",
	"precondition-changed": "12.1: a precondition is changed or removed; a first one doesn't",
	"path-text":            "12.1, 12.7: pathText",
}

// Weakenings are the names of these sentences.
func Weakenings() (names []string) {
	for name := range weakenings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
