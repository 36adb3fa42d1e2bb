package approvals

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Fact is one of the four that stand above a request.
type Fact struct{ Word, Says, More string }

// Facts are what it changes, what is usual, who asks, and what it needs.
func (d *Data) Facts() []Fact {
	f := facts{d}
	return []Fact{f.changes(), f.usually(), f.askedBy(), f.needs()}
}

// facts words them.
type facts struct{ *Data }

func (d facts) changes() Fact {
	f := Fact{Word: "Changes", Says: d.Course.Project}
	if f.Says == "" {
		f.Says = d.ProjectID
	}
	switch {
	case !d.Course.Known:
		f.More = d.Request.Method
	case d.Course.SideEffect && d.Request.Method == "DELETE":
		f.More = "DELETE; can’t be taken back from here"
	case d.Course.SideEffect:
		f.More = "can’t be taken back from here"
	default:
		f.Says, f.More = "Nothing", "it only reads from "+f.Says
	}
	return f
}

func (d facts) usually() Fact {
	f := Fact{Word: "Usually", Says: "Too few to say", More: "fewer than " + strconv.Itoa(countersign.FewestCompared) + " approved in 90 days"}
	if d.Usual == nil {
		return f
	}
	f.Says = d.Usual.Field + " " + d.Usual.Median.Raw()
	f.More = "median of " + strconv.Itoa(d.Usual.Count)
	if times := timesOf(d.amount(), d.Usual.Median.Raw()); times != "" {
		f.More += "; this is " + times
	}
	return f
}

// amount is the value at the field that is usual, as it is spelt.
func (d facts) amount() string {
	v := countersign.ObjectValue(d.InputSnapshot)
	for name := range strings.SplitSeq(d.Usual.Field, ".") {
		members, _ := v.Object()
		v = members[name]
	}
	if v.Kind() != countersign.KindNumber {
		return ""
	}
	return v.Raw()
}

// mostDigits bounds the numbers that are compared: 1e99999 has few digits and a long value.
const mostDigits = 40

// timesOf says how many times the usual a number is, "" where that says little.
func timesOf(n, usual string) string {
	if len(n) > mostDigits || len(usual) > mostDigits || strings.ContainsAny(n+usual, "eE") {
		return ""
	}
	a, is := new(big.Rat).SetString(n)
	b, are := new(big.Rat).SetString(usual)
	if !is || !are || a.Sign() <= 0 || b.Sign() <= 0 {
		return ""
	}
	times := new(big.Rat).Quo(a, b)
	switch {
	case times.Cmp(big.NewRat(10, 1)) >= 0:
		return times.FloatString(0) + " × that"
	case times.Cmp(big.NewRat(3, 2)) >= 0, times.Cmp(big.NewRat(2, 3)) <= 0:
		return times.FloatString(1) + " × that"
	}
	return "about that"
}

func (d facts) askedBy() Fact {
	f := Fact{Word: "Asked by", Says: desk.Name(d.RequestedBy, d.RequestedByName)}
	kind, _, _ := strings.Cut(d.RequestedBy, ":")
	if d.Course.Agent != "" {
		kind = "agent"
	}
	if kind != "user" {
		f.More = kind
	}
	if r := d.RequesterRecord; r != nil {
		more := strconv.Itoa(r.Verified) + " of " + strconv.Itoa(r.Runs) + " verified, " + strconv.Itoa(r.Rejected) + " rejected"
		f.More = strings.TrimPrefix(f.More+", "+more, ", ")
	}
	return f
}

func (d facts) needs() Fact {
	f := Fact{Word: "Needs", Says: text.Plural(d.Needed(), "approval", "approvals")}
	if len(d.Groups) > 0 {
		f.Says = strconv.Itoa(d.Needed()) + " of " + strings.Join(d.Groups, " and ")
	}
	if !d.Waiting {
		f.More = "decided"
		return f
	}
	f.More = strconv.Itoa(d.Still.Approved) + " so far"
	if len(d.Still.Open) > 0 && d.Still.Approved > 0 {
		f.More += ", " + strings.Join(d.Still.Open, " and ") + map[bool]string{true: " is missing", false: " are missing"}[len(d.Still.Open) == 1]
	}
	if d.Refused == nil {
		f.More += "; you may decide"
	}
	return f
}
