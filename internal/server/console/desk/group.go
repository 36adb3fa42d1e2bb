package desk

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Group is calls of one capability by one requester within a minute, read together. Each is
// decided by itself, on its own page.
type Group struct {
	Title, Who, Where, Method string
	Same                      []Input  // what all of them have
	Columns                   []string // inputs in which they differ
	Members                   []Member
	More                      int // inputs that differ and aren't shown here
}

// Input is a value by name.
type Input struct{ Name, Value string }

// Member is one of a group.
type Member struct {
	Row
	Values []string // by column
}

// Bounds of what a group shows of its inputs.
const (
	groupColumns = 5
	groupMost    = 50
)

func groupPage(v *web.Request) (*web.Page, error) {
	id := v.R.PathValue("id")
	rail, err := Of(v, Approval, id)
	if err != nil {
		return nil, err
	}
	for i := range rail.Rows {
		if row := &rail.Rows[i]; row.Whole != "" && row.Here {
			group, err := groupOf(v, row)
			if err != nil {
				return nil, err
			}
			return &web.Page{Name: "desk", Title: group.Title, Nav: "desk", Desk: true, Crumbs: Crumbs(Approval, web.Crumb{Word: "Group"}), Data: &Data{Desk: rail, Group: group}}, nil
		}
	}
	p, err := deskPage(v)
	if err == nil {
		p.Data.(*Data).Gone = true
	}
	return p, err
}

// groupOf reads the inputs of a group's members.
func groupOf(v *web.Request, row *Row) (*Group, error) {
	g := &Group{Who: row.Who, Where: row.Where}
	var inputs []map[string]countersign.Value
	for _, member := range row.Group[:min(len(row.Group), groupMost)] {
		a, err := v.Control.ApprovalAlone(v.R.Context(), v.Actor, member.ID)
		if err != nil {
			return nil, err
		}
		g.Method = a.Request.Method + " " + a.Capability
		inputs = append(inputs, a.InputSnapshot)
		g.Members = append(g.Members, Member{Row: member})
	}
	g.Title = text.Plural(len(row.Group), "call", "calls") + " of " + row.item.Capability
	names := map[string]bool{}
	for _, in := range inputs {
		for name := range in {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		g.add(name, inputs)
	}
	return g, nil
}

func (g *Group) add(name string, inputs []map[string]countersign.Value) {
	first := inputs[0][name]
	if !slices.ContainsFunc(inputs, func(in map[string]countersign.Value) bool { return !in[name].Equal(first) }) {
		g.Same = append(g.Same, Input{name, drawn.Clip(text.Inline(first))})
		return
	}
	if len(g.Columns) == groupColumns {
		g.More++
		return
	}
	g.Columns = append(g.Columns, name)
	for i := range g.Members {
		value := ""
		if v := inputs[i][name]; !v.IsZero() {
			value = drawn.Clip(text.Inline(v))
		}
		g.Members[i].Values = append(g.Members[i].Values, value)
	}
}
