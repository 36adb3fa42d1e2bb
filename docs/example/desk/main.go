// Command desk has a team refund an order, and answers what the run asks.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

func main() {
	ctx, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	backEnd, admin, reviewer := as("OPERATOR_TOKEN"), as("ADMIN_TOKEN"), as("REVIEWER_TOKEN")
	alive := as("AGENTS_TOKEN")

	var manifest countersign.Manifest
	text := must(os.ReadFile("manifest.json"))
	must(0, json.Unmarshal(text, &manifest))
	agents := must(backEnd.SyncAgents(ctx, "default-shop", manifest)).Items // in the manifest's order
	for _, a := range agents {
		if a.Status != countersign.AgentAdmitted {
			must(admin.AdmitAgent(ctx, a.ID, countersign.Admission{Reason: "its manifest was read"}))
		}
		go alive.KeepAlive(ctx, client.KeepAlive{AgentID: a.ID, InstanceID: a.ExternalAgentID + "-0"})
	}

	team := desk(ctx, backEnd, agents[0].ID, agents[1].ID)
	// The body belongs to the key, its revision too: store both before the start, and repeat with both.
	start := countersign.TeamRunStart{ExpectedRevision: team.Revision, Mode: countersign.ModeLive}
	started := must(backEnd.StartTeamRun(ctx, team.ID, start, client.Key("refund-of-A-48213")))
	run := must(backEnd.WaitRun(ctx, started.ID, client.Still))
	for !client.Ended(run) {
		review(ctx, reviewer, run)
		run = must(backEnd.WaitRun(ctx, run.ID, client.Still))
	}
	for _, s := range run.Steps {
		fmt.Println(s.ID, s.Status)
	}
	fmt.Println(run.Status, run.Error)
}

// desk is the team, made where it isn't there yet.
func desk(ctx context.Context, c *client.Client, assessor, refunder string) *countersign.Team {
	team, err := c.Team(ctx, "desk-by-program")
	if !errors.Is(err, client.ErrNotFound) {
		return must(team, err)
	}
	order := map[string]countersign.Value{"orderId": countersign.String("A-48213")}
	return must(c.SaveTeam(ctx, "desk-by-program", countersign.TeamWrite{
		Name:    "Returns desk",
		Members: []countersign.TeamMember{{AgentID: assessor, Role: "assessor"}, {AgentID: refunder, Role: "refunder"}},
		Steps: []countersign.TeamStep{{
			ID: "read-order", Name: "Read the order", AgentID: assessor, Capability: "orders.read", Input: order,
			Expectation: &countersign.Expectation{Field: "status", Equals: countersign.String("returned")},
		}, {
			ID: "refund", Name: "Refund the order", AgentID: refunder, Capability: "refunds.create", Input: order,
			DependsOn:     []string{"read-order"},
			InputBindings: map[string]countersign.Binding{"amount": {StepID: "read-order", Field: "total"}},
			Expectation:   &countersign.Expectation{Field: "status", Equals: countersign.String("succeeded")},
		}},
	}))
}

// review does what a person does in the console: look first, then answer.
func review(ctx context.Context, c *client.Client, run *countersign.Run) {
	switch w := run.WaitingFor; w.Kind {
	case countersign.WaitApproval:
		a := must(c.Approval(ctx, w.ApprovalID))
		fmt.Println("asked:", a.Request.Method, a.Request.URL, a.Request.Body.Raw())
		must(c.Decide(ctx, a.ID, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "the goods are back"}))
	case countersign.WaitReconcile:
		probed := must(c.ProbeRun(ctx, run.ID, w.StepID))
		must(c.ReconcileRun(ctx, run.ID, found(probed, w.StepID)))
	}
}

// found looks for the step's refund in the shop's list, by the step's key.
func found(run *countersign.Run, stepID string) countersign.Reconcile {
	for _, s := range run.Steps {
		if s.ID != stepID {
			continue
		}
		var list struct {
			Refunds []struct{ Key, Status string }
		}
		must(0, json.Unmarshal([]byte(s.Probes[len(s.Probes)-1].Output.Raw()), &list))
		for _, r := range list.Refunds {
			if r.Key == s.IdempotencyKey {
				return countersign.Reconcile{
					Resolution: countersign.ConfirmedCompleted, Evidence: "the shop lists a refund of this key",
					Output: map[string]countersign.Value{"status": countersign.String(r.Status)},
				}
			}
		}
	}
	log.Fatal("the shop shows no refund: a person must find out whether one can still come")
	return countersign.Reconcile{}
}

func as(token string) *client.Client {
	return must(client.New(client.Config{BaseURL: os.Getenv("COUNTERSIGN_URL"), Token: os.Getenv(token)}))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
