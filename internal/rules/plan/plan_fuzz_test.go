package plan_test

import (
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/plan"
)

// FuzzPlan: any plan that decodes is judged, and one that is READY can be run: its
// steps have an order in which each comes after what it depends on and takes
// inputs from, each calls a capability of an enabled project in scope, and what
// is stored of it is the same plan.
func FuzzPlan(f *testing.F) {
	for _, w := range []countersign.PlanWrite{
		write("LIVE", read("a"), bound(refund("b", "a"), "amount", "a", "order.total")), write("", refund("b", "a"), read("a", "b")),
		write("DRY_RUN", read("a"), read("a")), write("LIVE", bound(read("a"), "resourceId", "a", "$")), write("LIVE"),
	} {
		b, err := countersign.Marshal(w)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"name":"","modelId":"refunds","modelRevision":2,"mode":"LIVE","steps":[{"id":"s","name":"","projectId":"acme-closed","capability":"read","dependsOn":["s","t"]},{"id":"t","name":"","projectId":"acme-vault","capability":"refund","input":{"amount":1e999999999}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w countersign.PlanWrite
		if exactjson.Decode(data, &w) != nil || len(w.Steps) > countersign.MaxPlanSteps {
			return
		}
		p := plan.New(w, sources(), nil, origin())
		if (p.Status == countersign.PlanReady) != (len(p.ValidationErrors) == 0) || len(p.PlanDigest) != 64 {
			t.Fatalf("%s, %v, %q", p.Status, p.ValidationErrors, p.PlanDigest)
		}
		if stored := kept(t, p); stored.PlanDigest != p.PlanDigest || w.ID == "" && !plan.SameContent(stored, w) {
			t.Fatalf("stored it is another plan: %s", data)
		}
		if p.Status == countersign.PlanReady {
			checkRunnable(t, &p)
		}
	})
}

func checkRunnable(t *testing.T, p *countersign.Plan) {
	t.Helper()
	order, ok := plan.Order(p.Steps)
	if !ok || len(order) != len(p.Steps) || len(order) == 0 {
		t.Fatalf("it is READY and has the order %v, %v", order, ok)
	}
	var done []string
	for _, i := range order {
		s := p.Steps[i]
		for _, d := range s.DependsOn {
			if !slices.Contains(done, d) {
				t.Fatalf("%s goes before %s", s.ID, d)
			}
		}
		for _, b := range s.InputBindings {
			if !slices.Contains(done, b.StepID) {
				t.Fatalf("%s takes from %s before it was done", s.ID, b.StepID)
			}
		}
		src := sources().Projects[s.ProjectID]
		if !src.InScope || src.Project.Capability(s.Capability) == nil || p.Mode == countersign.ModeLive && !src.Project.Enabled {
			t.Fatalf("%s calls %s of %s", s.ID, s.Capability, s.ProjectID)
		}
		if slices.Contains(done, s.ID) {
			t.Fatalf("%s comes twice", s.ID)
		}
		done = append(done, s.ID)
	}
}
