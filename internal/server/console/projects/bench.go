package projects

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/rules"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The bench: rules and budgets of a capability are tried against what was called before, or
// against a call that is typed, until they are right; then they are saved. Nothing changes before.

type benchData struct {
	Project    countersign.Project
	Capability countersign.Capability
	Fields     []form.Field // approval, and how many runs
	Rules      []rules.RuleRow
	Budgets    rules.BudgetForm
	Unclear    string // error of the rules as a whole
	Call       []form.Field
	Verdict    *callVerdict // of the typed call
	CallWrong  *web.Problem

	Played  *countersign.WhatIf // nil: what is typed can't be played
	Bars    *histogram
	Would   countersign.Capability // with the gate that is tried
	Same    bool                   // the gate is as it stands
	Saving  *control.ProjectEdit
	Blocked *web.Problem // why it couldn't be saved
	Seen    string       // the digest of the gate that was tried
	Moved   bool         // something was changed after it was tried: it isn't saved
	MaySave bool
	Use     control.ProjectUse
	Problem *web.Problem
}

// Next is the number of the revision that saving makes.
func (d benchData) Next() int64 { return d.Project.Revision + 1 }

// IsRules reports the place of the capability's rules in a difference.
func (d benchData) IsRules(path string) bool { return path == d.place("approvalRules") }

// IsBudgets reports the place of its budgets.
func (d benchData) IsBudgets(path string) bool { return path == d.place("budgets") }

func (d benchData) place(member string) string {
	return "capabilities." + d.Capability.Name + "." + member
}

func benchPage(v *web.Request) (*web.Page, error) { return benchOf(v, nil, false) }

// onBench reads the capability that the address names.
func onBench(v *web.Request) (p countersign.Project, c countersign.Capability, err error) {
	if err = v.May(access.WhatIf); err != nil {
		return p, c, err
	}
	if p, err = v.Control.Project(v.R.Context(), v.Actor, v.R.PathValue("id")); err != nil {
		return p, c, err
	}
	found := p.Capability(v.Query("capability"))
	if found == nil {
		return p, c, countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, v.Query("capability"))
	}
	return p, *found, nil
}

// benchOf shows the bench with what is typed, played.
func benchOf(v *web.Request, err error, moved bool) (*web.Page, error) {
	p, c, unread := onBench(v)
	if unread != nil {
		return nil, unread
	}
	would, untyped := typedGate(v, c)
	err = web.Together(err, untyped)
	d := benchData{Project: p, Capability: c, Would: would, Moved: moved, MaySave: v.Can(access.WriteProject) && !p.Retired}
	if d.MaySave {
		if d.Use, unread = v.Control.ProjectUse(v.R.Context(), v.Actor, p.ID); unread != nil {
			return nil, unread
		}
	}
	if err == nil {
		err = d.play(v, would)
	}
	at := slices.IndexFunc(p.Capabilities, func(one countersign.Capability) bool { return one.Name == c.Name })
	s := form.Of(v, err, "capabilities["+strconv.Itoa(at)+"]")
	d.Fields = benchFields(s, c)
	d.Budgets = rules.BudgetsOf(s, c.Budgets)
	d.Rules, d.Unclear = rules.RuleRows(v, c), s.Take("approvalRules")
	d.judge(v, would, err == nil)
	d.Problem = s.Problem()
	word := "What if: " + c.Name
	out := &web.Page{Name: "bench", Title: word, Nav: "projects", Crumbs: Crumbs(p.ID, web.Crumb{Word: word}), Data: d}
	if err != nil {
		out.Status = d.Problem.Status()
	}
	return out, nil
}

func benchFields(s *form.Form, c countersign.Capability) []form.Field {
	word := map[bool]string{true: "what changes something asks", false: "a read never asks"}
	return []form.Field{
		s.Choose("select", "approval", "If no rule applies", "", c.Approval,
			form.Choice{Value: "", Word: "by the effect: " + word[c.HasSideEffect()]}, form.Choice{Value: countersign.ApprovalAlways, Word: "always ask"},
			form.Choice{Value: countersign.ApprovalRiskBased, Word: "ask by risk"}, form.Choice{Value: countersign.ApprovalNone, Word: "never ask"}),
		s.Mono("last", "Of the last LIVE runs", "1 to 1000, the newest.", strconv.Itoa(countersign.MaxPlayed)),
	}
}

// typedGate is the capability with the gate that is typed; it is as it stands before anything is.
func typedGate(v *web.Request, c countersign.Capability) (countersign.Capability, error) {
	if v.R.Method != http.MethodPost {
		return c, nil
	}
	var unread, unruly error
	c.Approval = v.Form("approval")
	if rules.ShowsBudgets(v) {
		c.Budgets, unread = rules.TypedBudgets(v)
	}
	c.ApprovalRules, unruly = rules.TypedRules(v, c)
	return c, web.Together(unread, unruly)
}

// asked is the question about a gate.
func asked(v *web.Request, would countersign.Capability) (w countersign.WhatIfRequest, err error) {
	w = countersign.WhatIfRequest{Capability: would.Name, Approval: would.ApprovalPolicy(), ApprovalRules: append([]countersign.ApprovalRule{}, would.ApprovalRules...), Budgets: append([]countersign.Budget{}, would.Budgets...), Last: countersign.MaxPlayed}
	if typed := v.Form("last"); typed != "" {
		if w.Last, err = strconv.ParseInt(typed, 10, 64); err != nil || w.Last < 1 || w.Last > countersign.MaxPlayed {
			err = web.Invalid("last", "a whole number from 1 to %d", countersign.MaxPlayed)
		}
	}
	return w, err
}

// play plays the gate, and says what saving it would do.
func (d *benchData) play(v *web.Request, would countersign.Capability) error {
	w, err := asked(v, would)
	if err != nil {
		return err
	}
	played, err := v.Control.WhatIf(v.R.Context(), v.Actor, d.Project.ID, w)
	if err != nil {
		return err
	}
	d.Played, d.Bars = &played, barsOf(played.ByField)
	if d.Seen, err = gateDigest(would); err != nil {
		return err
	}
	stands, err := gateDigest(d.Capability)
	if d.Same = stands == d.Seen; err != nil || d.Same || !d.MaySave {
		return err
	}
	saving, err := v.Control.EditOf(v.R.Context(), v.Actor, d.Project.ID, withGate(v, d.Project, would))
	if d.Blocked = web.ProblemOf(err); d.Blocked == nil {
		d.Saving = &saving
	}
	return nil
}

// withGate is the request that gives a capability of a project another gate.
func withGate(v *web.Request, p countersign.Project, would countersign.Capability) countersign.ProjectWrite {
	w := projectWriteOf(p)
	w.ExpectedRevision = web.RevisionReplaced(v, p.Revision, false)
	w.Capabilities = slices.Clone(w.Capabilities)
	for i := range w.Capabilities {
		if one := &w.Capabilities[i]; one.Name == would.Name {
			one.Approval, one.ApprovalRules, one.Budgets = would.Approval, would.ApprovalRules, would.Budgets
		}
	}
	return w
}

// gateDigest tells whether a gate is the one that was tried; none and an empty list are the same.
func gateDigest(c countersign.Capability) (string, error) {
	content := map[string]any{"approval": c.Approval, "rules": append([]countersign.ApprovalRule{}, c.ApprovalRules...), "budgets": append([]countersign.Budget{}, c.Budgets...)}
	return countersign.CanonicalDigest(content)
}

func onTheBench(v *web.Request) (string, error) {
	p, c, err := onBench(v)
	if err != nil {
		return "", err
	}
	if v.Form("do") != "save" {
		return "", web.ShownAgain(func(error) (*web.Page, error) { return benchOf(v, nil, false) })
	}
	if err := v.May(access.WriteProject); err != nil {
		return "", err
	}
	would, err := typedGate(v, c)
	if err == nil {
		seen, unread := gateDigest(would)
		if unread != nil {
			return "", unread
		}
		if seen != v.Form("seen") { // changed since: what it would do stands on the page before it is done
			return "", web.ShownAgain(func(error) (*web.Page, error) { return benchOf(v, nil, true) })
		}
		_, err = v.Control.PutProject(v.R.Context(), v.Actor, p.ID, withGate(v, p, would))
	}
	if err == nil {
		return "/projects/" + p.ID + "#capabilities", nil
	}
	return "", v.FormAgain(err, func(v *web.Request, err error) (*web.Page, error) { return benchOf(v, err, false) })
}

// callVerdict is what the gate says of a call that is typed, in words.
type callVerdict struct {
	gate.Verdict
	Class, Icon, Words string
}

// judge tries the typed call, if there is one.
func (d *benchData) judge(v *web.Request, would countersign.Capability, sound bool) {
	var inputs map[string]countersign.Value
	var err error
	wanted := v.R.Method == http.MethodPost && v.Form("do") == "call"
	if wanted {
		inputs, err = form.TypedInputs(v, &d.Capability, nil)
	}
	if wanted && err == nil && sound {
		var w countersign.WhatIfRequest
		if w, err = asked(v, would); err == nil {
			var verdict gate.Verdict
			if verdict, err = v.Control.JudgeCall(v.R.Context(), v.Actor, d.Project.ID, w, inputs); err == nil {
				d.Verdict = verdictOf(verdict)
			}
		}
	}
	s := form.Of(v, err, "")
	d.Call = s.Inputs(&d.Capability, nil)
	for i := range d.Call {
		d.Call[i].Required = false // only its own button needs them
	}
	d.CallWrong = s.Problem()
}

func verdictOf(g gate.Verdict) *callVerdict {
	out := callVerdict{Verdict: g}
	switch g.Then {
	case countersign.RuleAllow:
		out.Class, out.Icon, out.Words = "is-ok", "s-completed", "It would be sent without asking."
	case countersign.RuleAsk:
		out.Class, out.Icon, out.Words = "is-wait", "s-waiting", "A person would be asked."
		if g.Approvals > 1 {
			out.Words = strconv.Itoa(g.Approvals) + " people would be asked."
		}
	default:
		out.Class, out.Icon, out.Words = "is-fail", "s-failed", "It would be denied."
	}
	return &out
}
