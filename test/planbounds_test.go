package test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// echoing is a project that calls nobody, with so many characters of description.
func echoing(description int) doc {
	return doc{"name": "echo", "adapter": "LOCAL_ECHO", "capabilities": []any{
		doc{"name": "note", "method": "POST", "path": "/note", "sideEffect": true, "approval": "NONE", "inputSchema": doc{"x": doc{"type": "string", "required": false, "description": strings.Repeat("d", description)}}},
	}}
}

// planOver is a plan with a step in each project.
func planOver(projects []string) doc {
	steps := make([]any, len(projects))
	for i, id := range projects {
		steps[i] = doc{"id": fmt.Sprint("s", i), "name": "s", "projectId": id, "capability": "note"}
	}
	return doc{"name": "wide", "modelId": "wide", "modelRevision": 1, "mode": "DRY_RUN", "steps": steps}
}

func TestAPlanIsMadeOfABoundedAmount(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.operator.Put("/models/wide", doc{"document": harness.Model("wide")}).OK(t)
	var projects []string
	for i := range 9 {
		id := fmt.Sprint("default-large", i)
		w.Admin.Put("/projects/"+id, echoing(1000<<10)).OK(t)
		projects = append(projects, id)
	}
	made := w.operator.Post("/plans", planOver(projects[:8])).OK(t)
	w.operator.Post("/runs", doc{"planId": made.At("id").Text()}, keyed("within")).OK(t)
	w.operator.Post("/plans", planOver(projects)).Refused(t, "invalid_request", "with project "+projects[8]+", the projects, models and agents that this is made of have ",
		" bytes or more, and may have 8388608 together; make several of it, each with fewer of them, or register projects with fewer capabilities")
}

// TestThePlanOfATeamIsMadeOfABoundedAmount, also that of a team which was made before its projects grew.
func TestThePlanOfATeamIsMadeOfABoundedAmount(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.operator.Put("/models/wide", doc{"document": harness.Model("wide")}).OK(t)
	var members []string
	var steps []doc
	for i := range 9 {
		project, model := fmt.Sprint("default-large", i), fmt.Sprint("wide", i)
		w.Admin.Put("/projects/"+project, echoing(0)).OK(t)
		w.operator.Put("/models/"+model, doc{"document": harness.Model(model)}).OK(t)
		id := syncTo(w.operator, project, agentItem("clerk", "note", model)).OK(t).At("items").Items()[0].At("id").Text()
		w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "r"}).OK(t)
		members = append(members, id)
		steps = append(steps, teamStep(fmt.Sprint("s", i), id, "note", doc{}))
	}
	w.operator.Put("/teams/wide", teamOf(members, steps...)).OK(t)
	for i := range 9 {
		w.Admin.Put("/projects/"+fmt.Sprint("default-large", i), harness.With(echoing(1000<<10), "expectedRevision", 1)).OK(t)
	}
	parts := []string{"default-large8", fmt.Sprint(countersign.MaxPlanDocuments), "fewer"}
	w.operator.Post("/teams/wide/runs", doc{"expectedRevision": 1, "mode": "DRY_RUN"}, keyed("over")).Refused(t, "invalid_request", parts...)
	w.operator.Put("/teams/over", teamOf(members, steps...)).Refused(t, "invalid_request", parts...)
}

// TestAPlanTakesAsManyProjectIDsAsEveryStoreHolds: the longest of everything else that stands in
// the same index beside them.
func TestAPlanTakesAsManyProjectIDsAsEveryStoreHolds(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]harness.Setting{"the tier's": nil, "PostgreSQL": {harness.Set("STORE", pgtest.Database(t))}} {
		t.Run(name, func(t *testing.T) {
			s := harness.Start(t, settings...)
			random := rand.New(rand.NewPCG(1, 2)) // no store can compress it
			text := func(n int) string {
				b := make([]byte, n)
				for i := range b {
					b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[random.IntN(62)]
				}
				return string(b)
			}
			tenant := "t" + strings.ToLower(text(31))
			s.Admin.Put("/tenants/"+tenant, doc{"name": "Wide"}).OK(t)
			all := s.As(s.Admin.Post("/tokens", doc{"name": "all", "roles": []any{"ADMIN", "OPERATOR"}, "tenantId": tenant}).OK(t).At("token").Text())
			all.Put("/models/wide", doc{"document": harness.Model("wide")}).OK(t)
			var projects []string
			for left := countersign.MaxScope; left > 0; {
				n := min(left, countersign.MaxIDLength)
				if rest := left - n - 1; rest > 0 && rest < len(tenant)+2 {
					n -= len(tenant) + 2
				}
				projects = append(projects, tenant+"-"+text(n-len(tenant)-1))
				left -= n + 1
			}
			longer := tenant + "-" + text(len(projects[len(projects)-1])-len(tenant))
			for _, id := range append(projects, longer) {
				all.Put("/projects/"+id, echoing(0)).OK(t)
			}
			if n := len(strings.Join(projects, ",")); n != countersign.MaxScope {
				t.Fatalf("the ids have %d characters", n)
			}
			made := all.Post("/plans", harness.With(planOver(projects), "id", text(countersign.MaxIDLength))).OK(t)
			all.Post("/runs", doc{"planId": made.At("id").Text()}, keyed("wide")).OK(t)
			projects[len(projects)-1] = longer
			all.Post("/plans", planOver(projects)).Refused(t, "invalid_request", "the ids of the projects of a plan have 2501 characters together, and may have 2500; make several of it, each of fewer projects")
		})
	}
}

func TestSyncTakesABoundedManifest(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	var agents []doc
	for i := range countersign.MaxManifest + 1 {
		agents = append(agents, agentItem(fmt.Sprint("many", i), "note", ""))
	}
	syncTo(w.operator, shop, agents...).Refused(t, "invalid_request", "agents: must have at most 500 elements, not 501; send several manifests, for what one leaves out stays as it is")
	syncTo(w.operator, shop, agents[1:]...).OK(t)
	syncTo(w.operator, shop, agents[0]).OK(t)
	if n := w.operator.Get("/agents?limit=1").OK(t).At("total").Int(); n != countersign.MaxManifest+1 {
		t.Errorf("%d agents", n)
	}
}
