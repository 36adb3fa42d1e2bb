package desk

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Kinds of what waits, as addresses and forms name them.
const (
	Approval = "approval"
	Recovery = "recovery"
	Change   = "change"
)

// places are the pages on which each kind is decided.
var places = map[string]string{Approval: "/approvals/", Recovery: "/recovery/", Change: "/changes/"}

// Tabs of the list. The first is that of an address that names none.
const (
	inApprovals = "approvals"
	inRecovery  = "recovery"
	inChanges   = "changes"
	inOthers    = "others"
	inLater     = "later"
)

var tabOf = map[string]string{Approval: inApprovals, Recovery: inRecovery, Change: inChanges}

// parameters are those of an address that choose what the list shows. Each page of the desk hands
// them on, and each form.
var parameters = []string{"in", "project", "agent", "by", "group", "find", "order", "after"}

// query is what the list shows.
type query struct{ url.Values }

// queryOf is the query of a page's address; of a form, the one that it carries.
func queryOf(v *web.Request) query {
	from := v.R.URL.Query()
	if v.R.Method != http.MethodGet && v.R.Method != http.MethodHead {
		from, _ = url.ParseQuery(v.R.PostForm.Get("desk"))
	}
	q := query{url.Values{}}
	for _, name := range parameters {
		if value := strings.TrimSpace(from.Get(name)); value != "" && len(value) <= 200 {
			q.Set(name, value)
		}
	}
	if !slices.Contains([]string{"", inApprovals, inRecovery, inChanges, inOthers, inLater}, q.Get("in")) {
		q.Del("in")
	}
	if !slices.Contains([]string{"", control.OrderExpires, control.OrderAmount}, q.Get("order")) {
		q.Del("order")
	}
	return q
}

// with is another query; "" takes a parameter away. Another choice begins the list anew.
func (q query) with(name, value string) query {
	out := query{url.Values{}}
	for k, values := range q.Values {
		out.Values[k] = values
	}
	if name != "after" {
		out.Del("after")
	}
	out.Set(name, value)
	if value == "" || name == "in" && value == inApprovals {
		out.Del(name)
	}
	return out
}

// at is an address below the console with the query.
func (q query) at(path string) string {
	if len(q.Values) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// page is where one of a kind is decided.
func (q query) page(kind, id string) string { return q.at(places[kind] + url.PathEscape(id)) }

// filtered reports a list that leaves something out.
func (q query) filtered() bool {
	return slices.ContainsFunc([]string{"project", "agent", "by", "group", "find"}, q.Has)
}

func (q query) filter() control.ApprovalFilter {
	return control.ApprovalFilter{
		ProjectID: q.Get("project"), AgentID: q.Get("agent"), RequestedBy: q.Get("by"), Group: q.Get("group"), Text: q.Get("find"), Order: q.Get("order"),
	}
}
