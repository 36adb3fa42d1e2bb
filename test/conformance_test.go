package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// conformanceOf are verdicts that prove a capability of revision 1, with the changed ones replaced.
func conformanceOf(capability, target string, changed map[string]string) doc {
	var rules []any
	for _, name := range []string{"accepts-signed", "same-key-same-body", "same-key-other-body", "slow-answer", "twins", "effect-once"} {
		verdict := "HOLDS"
		if v, ok := changed[name]; ok {
			verdict = v
		}
		rules = append(rules, doc{"name": name, "verdict": verdict, "seen": "200"})
	}
	return doc{"expectedRevision": 1, "capability": capability, "target": target, "rules": rules}
}

const sandbox = "https://sandbox.example"

func (w *world) record(body doc) *harness.Answer {
	return w.tenantAdmin.Post("/projects/"+shop+"/conformance", body)
}

func TestWhatACheckFoundIsShownAtTheProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "conformance", harness.Absent)
	made := w.record(conformanceOf("note", "https://Sandbox.example:443/", nil)).OK(t).Is(t, "revision", 1).Is(t, "enabled", true)
	for _, p := range []json{made, w.viewer.Get("/projects/" + shop).OK(t), w.viewer.Get("/projects").OK(t).At("items.0")} {
		p.Is(t, "conformance.0.capability", "note").Is(t, "conformance.0.proven", true).Is(t, "conformance.0.target", sandbox)
		p.Is(t, "conformance.0.rules.0.name", "accepts-signed").Is(t, "conformance.0.rules.0.seen", "200")
		if !strings.HasPrefix(p.At("conformance.0.checkedBy").Text(), "token:") || instant(t, p, "conformance.0.checkedAt").IsZero() {
			t.Error(p)
		}
	}
}

// TestTheServiceDecidesWhatIsProven by the rules for repeated requests only: not by signatures, nor by an effect without a probe.
func TestTheServiceDecidesWhatIsProven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		rule, verdict string
		proven        bool
	}{
		{"effect-once", "NOT_TRIED", true}, {"effect-once", "BROKEN", false},
		{"twins", "NOT_TRIED", false}, {"slow-answer", "BROKEN", false}, {"same-key-same-body", "BROKEN", false},
		{"same-key-other-body", "NOT_TRIED", false}, {"accepts-signed", "BROKEN", false}, {"", "", true},
	} {
		w.record(conformanceOf("note", sandbox, map[string]string{c.rule: c.verdict})).OK(t).Is(t, "conformance.0.proven", c.proven)
	}
	only := doc{"expectedRevision": 1, "capability": "note", "target": sandbox, "rules": []any{doc{"name": "twins", "verdict": "HOLDS"}}}
	w.record(only).OK(t).Is(t, "conformance.0.proven", false)
}

func TestTheLatestCheckOfEachCapabilityCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.record(conformanceOf("note", sandbox, nil)).OK(t)
	w.record(conformanceOf("refund", sandbox, nil)).OK(t)
	p := w.record(conformanceOf("note", "https://other.example", map[string]string{"twins": "BROKEN"})).OK(t)
	if n := len(p.At("conformance").Items()); n != 2 {
		t.Errorf("%d checks", n)
	}
	p.Is(t, "conformance.0.capability", "refund").Is(t, "conformance.0.proven", true)
	p.Is(t, "conformance.1.capability", "note").Is(t, "conformance.1.proven", false).Is(t, "conformance.1.target", "https://other.example")
}

// TestAnEditMakesItDeclaredAgain: a PUT can't send the conformance that a GET returned.
func TestAnEditMakesItDeclaredAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	read := w.record(conformanceOf("note", sandbox, nil)).OK(t)
	w.tenantAdmin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t).Is(t, "conformance.0.proven", true)
	back := strings.Replace(read.String(), `"name":"Shop"`, `"name":"Shop again","expectedRevision":1`, 1)
	w.tenantAdmin.Put("/projects/"+shop, back).OK(t).Is(t, "revision", 2).Is(t, "conformance", harness.Absent)
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "conformance", harness.Absent)
	w.record(conformanceOf("note", sandbox, nil)).Refused(t, "revision_conflict", "revision 2")
	second := harness.With(conformanceOf("note", sandbox, nil), "expectedRevision", 2)
	w.record(second).OK(t).Is(t, "conformance.0.proven", true)
}

func TestTheConsoleSaysWhatIsProvenAndWhatDeclared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	p := harness.Project(w.shop.Origin())
	p["capabilities"] = []any{harness.Capability("note", "POST", "/notes", doc{"idempotent": true})}
	w.Admin.Put("/projects/"+shop, harness.With(p, "expectedRevision", 1)).OK(t)
	at := func(changed map[string]string) doc {
		return harness.With(conformanceOf("note", sandbox, changed), "expectedRevision", 2)
	}
	says(t, ada.Open("/projects/"+shop), 200, "receiver deduplicates", "Declared")
	made := w.record(at(nil)).OK(t)
	day := instant(t, made, "conformance.0.checkedAt").UTC().Format("2 Jan 2006")
	says(t, ada.Open("/projects/"+shop), 200, "Proven "+day, "The same key had its effect once. Tried at "+sandbox)
	w.record(at(map[string]string{"twins": "NOT_TRIED"})).OK(t)
	says(t, ada.Open("/projects/"+shop), 200, "Declared", "A check has not shown it.")
	w.record(at(map[string]string{"twins": "BROKEN"})).OK(t)
	says(t, ada.Open("/projects/"+shop), 200, "Declared", "failed: twins")
}

func TestAConformanceThatFitsNothingIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := conformanceOf("note", sandbox, nil)
	rule := func(fields doc) doc { return harness.With(good, "rules", []any{fields}) }
	var many []any
	for range 21 {
		many = append(many, doc{"name": "twins", "verdict": "HOLDS"})
	}
	for name, c := range map[string]struct {
		body doc
		says string
	}{
		"no capability":      {harness.With(good, "capability", "pay"), "no capability pay"},
		"no rule":            {harness.With(good, "rules", []any{}), "rules: "},
		"21 rules":           {harness.With(good, "rules", many), "at most 20"},
		"one rule twice":     {harness.With(good, "rules", many[:2]), "rules[1].name: twins stands in rules[0] already"},
		"an unknown rule":    {rule(doc{"name": "kind", "verdict": "HOLDS"}), "rules[0].name"},
		"an unknown verdict": {rule(doc{"name": "twins", "verdict": "YES"}), "rules[0].verdict"},
		"a long story":       {rule(doc{"name": "twins", "verdict": "HOLDS", "seen": strings.Repeat("x", 501)}), "rules[0].seen"},
		"no origin":          {harness.With(good, "target", "sandbox/path"), "target: "},
		"no revision":        {harness.Without(good, "expectedRevision"), "expectedRevision"},
		"proven by itself":   {harness.With(good, "proven", true), "proven"},
	} {
		a := w.record(c.body)
		if a.Status != 400 {
			t.Errorf("%s: %s", name, a)
		}
		a.Refused(t, "invalid_request", c.says)
	}
	w.record(harness.With(good, "expectedRevision", 2)).Refused(t, "revision_conflict", "revision 1")
	w.tenantAdmin.Post("/projects/default-none/conformance", good).Refused(t, "not_found")
	w.operator.Post("/projects/"+shop+"/conformance", good).Refused(t, "role_required")
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "conformance", harness.Absent)
}
