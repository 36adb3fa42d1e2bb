package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// scoped is a world with a second project, and with principals that are limited to the first one.
func scoped(t *testing.T) (w *world, operator, admin *harness.Client) {
	t.Helper()
	w = newWorld(t)
	w.register(t, "default-two", harness.Project(w.shop.Origin()))
	operator, _ = w.token(t, doc{"roles": []string{"OPERATOR"}, "projectIds": []string{shop}})
	admin, _ = w.token(t, doc{"roles": []string{"ADMIN"}, "projectIds": []string{shop}})
	return w, operator, admin
}

func write(id string, revision int) doc {
	return doc{"document": harness.Model(id), "expectedRevision": revision}
}

// planOn is a plan of a model with a step on each of these projects.
func planOn(model string, projects ...string) doc {
	var steps []doc
	for _, p := range projects {
		steps = append(steps, harness.With(step("n-"+p, "note", nil), "projectId", p))
	}
	return harness.With(planOf(steps...), "modelId", model)
}

func TestAProjectLimitedTokenWritesAModelThatNothingOfOthersRestsOn(t *testing.T) {
	t.Parallel()
	w, operator, admin := scoped(t)
	operator.Put("/models/mine", write("mine", 0)).OK(t)
	operator.Put("/models/mine", write("mine", 1)).OK(t) // without any plan
	operator.Post("/plans", harness.With(planOn("mine", shop), "modelRevision", 2)).OK(t).Is(t, "status", "READY")
	operator.Put("/models/mine", write("mine", 2)).OK(t)
	admin.Post("/models/mine/suspend", doc{"reason": "r"}).OK(t)
	admin.Post("/models/mine/resume", doc{"reason": "r"}).OK(t)

	w.operator.Put("/models/theirs", write("theirs", 0)).OK(t)
	w.operator.Put("/models/shared", write("shared", 0)).OK(t)
	theirs := w.ready(t, planOn("theirs", "default-two"))
	w.ready(t, planOn("shared", shop))
	w.ready(t, planOn("shared", shop, "default-two"))
	for _, id := range []string{"theirs", "shared"} {
		operator.Put("/models/"+id, write(id, 1)).Refused(t, "project_scope", id)
		operator.Put("/models/"+id, write(id, 9)).Refused(t, "project_scope", id) // before its revision is compared
		for _, move := range []string{"suspend", "resume", "retire", "restore"} {
			admin.Post("/models/"+id+"/"+move, doc{"reason": "r"}).Refused(t, "project_scope", id)
		}
		w.viewer.Get("/models/"+id).OK(t).Is(t, "revision", 1)
	}
	w.operator.Post("/runs", doc{"planId": theirs}, key()).OK(t) // their plan has not drifted
	w.tenantAdmin.Get("/audit?action=models.write&subject=model/theirs&limit=1").OK(t).Is(t, "items.0.outcome", "refused: project_scope")
	w.operator.Put("/models/shared", write("shared", 1)).OK(t) // without a limit
}

// TestAProjectLimitedTokenLeavesTheModelsOfOthersAgentsAndTeams: a model also belongs to another project by an INVALID plan, by agents, and by
// teams with such an agent, since the plans of team runs name no model.
func TestAProjectLimitedTokenLeavesTheModelsOfOthersAgentsAndTeams(t *testing.T) {
	t.Parallel()
	w, operator, _ := scoped(t)
	for _, id := range []string{"invalid", "agents", "teams"} {
		w.operator.Put("/models/"+id, write(id, 0)).OK(t)
	}
	w.operator.Post("/plans", harness.With(planOn("invalid", "default-two"), "steps.0.capability", "none")).OK(t).Is(t, "status", "INVALID")
	operator.Put("/models/invalid", write("invalid", 1)).Refused(t, "project_scope")

	other := w.operator.Post("/systems/default-two/agents/sync", manifest(agentItem("teller", "note", "agents"))).OK(t).At("items.0.id").Text()
	w.Admin.Post("/agents/"+other+"/admit", doc{"reason": "known"}).OK(t)
	operator.Put("/models/agents", write("agents", 1)).Refused(t, "project_scope")

	own := w.admitted(t, agentItem("clerk", "note", "teams"))[0]
	operator.Put("/models/teams", write("teams", 1)).OK(t)
	w.operator.Put("/teams/both", teamOf([]string{own, other})).OK(t)
	operator.Put("/models/teams", write("teams", 2)).Refused(t, "project_scope")
}
