package rules

import (
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// Meter is a budget with what is used of it, as a bar.
type Meter struct {
	Of, Name, Reason string // Of: the capability
	Used, Most, Open string // Used: "" where it adds what is hidden from the reader
	Share            int    // of the most that there may be, in percent
	Known, Unknown   string // how wide what is used is drawn, and behind it what nobody knows
	FreeAt           time.Time
	Word             string // the budget itself, as everywhere
}

// amber is the share from which on a meter warns.
const amber = 80

// High reports a budget that is nearly used up.
func (m Meter) High() bool { return m.Share >= amber }

// MetersOf are the meters of budgets.
func MetersOf(uses []countersign.BudgetUse) []Meter {
	out := make([]Meter, len(uses))
	for i, u := range uses {
		b := u.Budget
		m := Meter{Of: u.Capability, Name: "Calls in " + b.Window, Most: strconv.FormatInt(b.Count, 10), Reason: b.Reason, FreeAt: u.FreeAt, Word: budgetWord(b)}
		if b.Sum != "" {
			m.Name, m.Most = b.Sum+" in "+b.Window, b.Most.Raw()
		}
		m.Used = u.Used.Raw()
		used, open := shareOf(m.Used, m.Most), shareOf(u.MayHaveHappened.Raw(), m.Most)
		m.Share = int(used)
		m.Known, m.Unknown = percent(used-open), percent(open)
		if open > 0 {
			m.Open = u.MayHaveHappened.Raw()
		}
		out[i] = m
	}
	return out
}

// shareOf is a part in percent, to be drawn: what is exact stands in words beside it.
func shareOf(part, whole string) float64 {
	p, err := strconv.ParseFloat(part, 64)
	w, wrong := strconv.ParseFloat(whole, 64)
	if err != nil || wrong != nil || w <= 0 {
		return 0
	}
	return min(100, max(0, 100*p/w))
}

func percent(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(max(0, f), 'f', 1, 64), ".0") + "%"
}
