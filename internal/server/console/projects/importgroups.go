package projects

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The operations of a document come in its groups, each with what it does, and when its
// capabilities ask.

// importGroup are the operations of one tag.
type importGroup struct {
	Tag            string
	Rows           []importRow // those that are shown
	Reads, Changes int
	Chosen, Of     int // Of: those that match what is looked for
	Policies       []form.Choice
}

// All reports that each of the group is chosen.
func (g importGroup) All() bool { return g.Chosen == g.Of }

// policyOf is the name of the field that says when a group's capabilities ask.
func policyOf(tag string) string { return "policy." + tag }

// policies are what it may say. None of them lets a group out unasked.
var policies = []form.Choice{{Value: "", Word: "as proposed"}, {Value: countersign.ApprovalAlways, Word: "always ask"}, {Value: countersign.ApprovalRiskBased, Word: "ask by risk"}}

// group puts a row into its tag's group.
func (d *importData) group(v *web.Request, tag string, row importRow, matches, visible bool) {
	i := slices.IndexFunc(d.Groups, func(g importGroup) bool { return g.Tag == tag })
	if i < 0 {
		g := importGroup{Tag: tag}
		for _, p := range policies {
			p.Chosen = p.Value == v.Form(policyOf(tag))
			g.Policies = append(g.Policies, p)
		}
		i, d.Groups = len(d.Groups), append(d.Groups, g)
	}
	g := &d.Groups[i]
	if row.HasSideEffect() {
		g.Changes++
	} else {
		g.Reads++
	}
	if matches {
		g.Of++
		if row.Chosen {
			g.Chosen++
		}
	}
	if visible {
		g.Rows = append(g.Rows, row)
	}
}

// ticking reports whether the button that was pressed ticks, or unticks, the operations of a tag.
func ticking(v *web.Request, tag string) (ticks, all bool) {
	do, of, one := strings.Cut(v.Form("do"), " ")
	return (do == "tick" || do == "untick") && (!one || of == tag), do == "tick"
}

// policiesIn are the groups' choices, to be carried on.
func policiesIn(v *web.Request) (out [][2]string) {
	for name, values := range v.R.PostForm {
		if strings.HasPrefix(name, policyOf("")) && values[0] != "" {
			out = append(out, [2]string{name, values[0]})
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// asked are capabilities that ask as their groups say.
func (in proposal) asked(v *web.Request, chosen []countersign.Capability) []countersign.Capability {
	for i := range chosen {
		switch policy := v.Form(policyOf(in.Tags[chosen[i].Name])); policy {
		case countersign.ApprovalAlways, countersign.ApprovalRiskBased:
			chosen[i].Approval = policy
		}
	}
	return chosen
}
