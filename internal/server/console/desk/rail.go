package desk

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/web"
)

// shown is how many rows the list shows at once.
const shown = 50

// Rail is the list beside what is decided.
type Rail struct {
	Tabs    []Tab
	Filters []Filter
	Rows    []Row
	In      string
	Query   string // what forms of the page carry
	More    string // address of the next part
	First   string // address of the first part, where this is another one
	Left    []web.Filter
	Find    string
	Keeps   map[string]string // the query's other parameters, for the form that finds

	Prev, Next string // addresses of the neighbors of what is shown
	At         int    // where it stands in the list, from 1; 0: nowhere
	Of         int
	After      []string // what comes after it, "kind/id"; forms carry it
	Item       bool     // the page shows one of the list
	Last       *Last    // what became of the one that was decided before
}

// Tab is one of the lists.
type Tab struct {
	Word, Href string
	Count      int
	Here       bool
	Name       string // for the script that keeps the counts
}

// Filter is a choice of what the list shows.
type Filter struct {
	Word    string
	Chosen  bool
	Choices []web.Filter
}

// Row is one that waits, or the first of a group of one call.
type Row struct {
	Kind, ID, Href string
	Title          string
	Amount, Unit   string
	Where, Who     string
	Since, Expires time.Time
	Marks          []Mark
	Here           bool
	Bar            string // why the visitor can't decide it
	Done           string // what became of it while the page was open

	Group []Row  // the others of its group
	Whole string // address of the page that shows the group
	item  control.InboxRow
}

// Mark is what one must know of a row before one opens it.
type Mark struct{ Class, Word string }

// Of is the list beside one of a kind; kind "" beside none.
func Of(v *web.Request, kind, id string) (*Rail, error) {
	q := queryOf(v)
	if !q.Has("in") && kind != "" && tabOf[kind] != inApprovals {
		q = q.with("in", tabOf[kind])
	}
	r := &Rail{In: tabIn(q), Query: q.Encode(), Find: q.Get("find"), Item: kind != ""}
	var err error
	if r.Rows, err = rowsOf(v, q, r); err != nil {
		return nil, err
	}
	r.place(q, kind, id)
	r.tabs(v, q)
	r.filters(v, q)
	r.Last = lastOf(v, v.Query("last"))
	return r, nil
}

func tabIn(q query) string {
	if in := q.Get("in"); in != "" {
		return in
	}
	return inApprovals
}

// rowsOf are the rows of the chosen list.
func rowsOf(v *web.Request, q query, r *Rail) ([]Row, error) {
	switch tabIn(q) {
	case inRecovery:
		return recoveries(v, q, false)
	case inChanges:
		return changes(v, q)
	case inLater:
		return laterRows(v, q)
	}
	rows, more, total, err := asked(v, q, tabIn(q) == inOthers)
	if err != nil {
		return nil, err
	}
	r.Of = total
	if more != "" {
		r.More = web.Prefix + q.with("after", more).at("/desk")
	}
	if q.Has("after") {
		r.First = web.Prefix + q.with("after", "").at("/desk")
	}
	if tabIn(q) == inOthers && !q.Has("after") && !q.filtered() {
		lost, err := recoveries(v, q, true)
		if err != nil {
			return nil, err
		}
		rows = append(lost, rows...)
	}
	return rows, nil
}

// asked are the approvals that wait; others: for somebody else.
func asked(v *web.Request, q query, others bool) (rows []Row, more string, total int, err error) {
	later := laterOf(v)
	in, err := v.Control.Inbox(v.R.Context(), v.Actor, control.InboxQuery{
		Filter: q.filter(), Others: others, After: q.Get("after"), Limit: shown,
		Put: func(id string) bool { return !others && slices.Contains(later, id) },
	})
	if err != nil {
		return nil, "", 0, err
	}
	names := projectNames(v)
	for i := range in.Rows {
		rows = append(rows, approvalRow(v, q, &in.Rows[i], names))
	}
	return grouped(rows, q), in.More, in.Total, nil
}

// projectNames are the names of projects by id.
func projectNames(v *web.Request) map[string]string {
	names := map[string]string{}
	found, err := control.ListProjects(v.R.Context(), v.Control, v.Actor, control.List{Limit: 200, Retired: true}, web.ProjectRowOf)
	if err != nil {
		return names // the ids are said
	}
	for i := range found.Items {
		names[found.Items[i].ID] = found.Items[i].Name
	}
	return names
}

// fewest is how many equal calls make a group.
const fewest = 3

// grouped folds calls of one capability, by one requester within a minute, into one row. Each is
// decided by itself.
func grouped(rows []Row, q query) (out []Row) {
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[i].item.Alike(&rows[j].item) {
			j++
		}
		if j-i >= fewest {
			first := rows[i]
			first.Group, first.Whole = rows[i:j:j], web.Prefix+q.at("/desk/group/"+first.ID)
			first.Title, first.Marks = first.item.Capability, marksOf(first.Group)
			out = append(out, first)
		} else {
			out = append(out, rows[i:j]...)
		}
		i = j
	}
	return out
}

// marksOf are the marks that any of a group has, each once.
func marksOf(group []Row) (marks []Mark) {
	for _, row := range group {
		for _, m := range row.Marks {
			if m.Class != "idle" && !slices.Contains(marks, m) {
				marks = append(marks, m)
			}
		}
	}
	return marks
}

// each calls f for every row, those of groups too, in order.
func (r *Rail) each(f func(row *Row)) {
	for i := range r.Rows {
		if group := r.Rows[i].Group; len(group) > 0 {
			for k := range group {
				f(&group[k])
			}
			continue
		}
		f(&r.Rows[i])
	}
}

// nextOnes is how many of those that come after are tried: others may decide meanwhile.
const nextOnes = 8

// place finds what the page shows in the list, and what is beside it.
func (r *Rail) place(q query, kind, id string) {
	var all []*Row
	at := -1
	r.each(func(row *Row) {
		if row.Kind == kind && row.ID == id {
			row.Here, at = true, len(all)
		}
		all = append(all, row)
	})
	for i := range r.Rows {
		for _, member := range r.Rows[i].Group {
			r.Rows[i].Here = r.Rows[i].Here || member.Here
		}
	}
	if r.In != inApprovals && r.In != inOthers {
		r.Of = len(all)
	}
	if at >= 0 && !q.Has("after") {
		r.At = at + 1
	}
	if at > 0 {
		r.Prev = all[at-1].Href
	}
	if at >= 0 && at+1 < len(all) {
		r.Next = all[at+1].Href
	} else if at >= 0 && r.More != "" {
		r.Next = r.More
	}
	rest := all // it comes from elsewhere: the list begins at its first one
	if at >= 0 {
		rest = slices.Concat(all[at+1:], all[:at])
	}
	for _, row := range rest[:min(len(rest), nextOnes)] {
		r.After = append(r.After, row.Kind+"/"+row.ID)
	}
}

// tabs are the lists with how much waits in each.
func (r *Rail) tabs(v *web.Request, q query) {
	n := web.Waiting(v)
	add := func(name, word string, count int) {
		to := query{Values: map[string][]string{}}.with("in", name)
		for _, keep := range []string{"project", "order"} {
			if value := q.Get(keep); value != "" && (name == inApprovals || name == inOthers) {
				to = to.with(keep, value)
			}
		}
		r.Tabs = append(r.Tabs, Tab{Word: word, Href: web.Prefix + to.at("/desk"), Count: count, Here: r.In == name, Name: name})
	}
	add(inApprovals, "Approvals", n.Approvals)
	add(inRecovery, "Recovery", n.Recoveries)
	if v.Can(access.ReadChanges) {
		add(inChanges, "Changes", n.Changes)
	}
	add(inOthers, "Others", 0)
	if later := laterOf(v); len(later) > 0 {
		add(inLater, "Later", len(later))
	}
}

// filters are the choices that narrow and order the list of approvals.
func (r *Rail) filters(v *web.Request, q query) {
	r.Keeps = map[string]string{}
	for _, name := range parameters {
		if value := q.Get(name); value != "" && name != "find" && name != "after" {
			r.Keeps[name] = value
		}
	}
	if r.In != inApprovals && r.In != inOthers {
		return
	}
	projects := Filter{Word: "All projects"}
	names := projectNames(v)
	if len(names) > 1 || q.Has("project") {
		projects.Choices = append(projects.Choices, web.Filter{Word: "All projects", Href: web.Prefix + q.with("project", "").at("/desk"), Here: !q.Has("project")})
		for _, id := range sortedByName(names) {
			here := q.Get("project") == id
			if here {
				projects.Word, projects.Chosen = names[id], true
			}
			projects.Choices = append(projects.Choices, web.Filter{Word: names[id], Href: web.Prefix + q.with("project", id).at("/desk"), Here: here})
		}
		r.Filters = append(r.Filters, projects)
	}
	order := Filter{}
	for _, c := range [][2]string{{"", "Oldest first"}, {control.OrderExpires, "Expires first"}, {control.OrderAmount, "Largest first"}} {
		here := q.Get("order") == c[0]
		if here {
			order.Word, order.Chosen = c[1], c[0] != ""
		}
		order.Choices = append(order.Choices, web.Filter{Word: c[1], Href: web.Prefix + q.with("order", c[0]).at("/desk"), Here: here})
	}
	r.Filters = append(r.Filters, order)
	for _, one := range [][2]string{{"agent", "agent"}, {"by", "asked by"}, {"group", "group"}} {
		if value := q.Get(one[0]); value != "" {
			r.Left = append(r.Left, web.Filter{Word: one[1] + " " + value, Href: web.Prefix + q.with(one[0], "").at("/desk")})
		}
	}
}

func sortedByName(names map[string]string) (ids []string) {
	for id := range names {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(names[a]+"\n"+a, names[b]+"\n"+b) })
	return ids
}
