package redaction

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

// TestEachFieldOfARecordIsKeptOrRemoved: whoever adds one says which.
func TestEachFieldOfARecordIsKeptOrRemoved(t *testing.T) {
	for of, says := range records {
		named := slices.Concat(says.keeps, says.removes, says.blanks, says.codes)
		for i := range of.NumField() {
			f := of.Field(i)
			n := 0
			for _, name := range named {
				if name == f.Name {
					n++
				}
			}
			switch within := isDescribed(f.Type); {
			case n > 1:
				t.Errorf("%s.%s is named %d times", of, f.Name, n)
			case n == 0 && !within:
				t.Errorf("%s.%s: does redaction keep it, or remove it? description.go says neither", of, f.Name)
			}
		}
		for _, name := range named {
			if _, ok := of.FieldByName(name); !ok {
				t.Errorf("%s has no field %s", of, name)
			}
		}
	}
}

// TestARedactedRecordHoldsOnlyWhatIsKept fills in each field at any depth.
func TestARedactedRecordHoldsOnlyWhatIsKept(t *testing.T) {
	at := time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)
	var run countersign.Run
	var approval countersign.Approval
	var plan countersign.Plan
	marks := map[string][]marked.Text{"run": marked.Fill(&run), "approval": marked.Fill(&approval), "plan": marked.Fill(&plan)}
	for _, p := range []*countersign.Plan{&plan, run.PlanSnapshot} { // models and projects aren't the run's
		p.ModelSnapshot, p.ProjectSnapshots, p.Models = nil, nil, nil
	}
	shown := map[string]any{"run": Run(&run, countersign.Redaction{By: "user:admin@example.com", At: at}), "approval": Approval(&approval, at), "plan": Plan(&plan, at)}
	left := map[string]string{
		"run":      "id planId status revision waitingFor planDigest agentId teamId approvalId openAlike requestedBy requestedByName identity onBehalfOf idempotencyKey hold steps.id steps.name steps.projectId steps.capability steps.actionId steps.agentId steps.dependsOn steps.idempotencyKey steps.requestDigest steps.approvalId steps.request.method steps.response.bodySha256 steps.verification.field steps.verification.checks.field steps.reconciliation.by steps.reconciliation.byName steps.reconciliation.differs.field steps.late.response.bodySha256 steps.probes.by steps.probes.byName steps.probes.capability steps.probes.request.method steps.probes.response.bodySha256 steps.error.code steps.answeredBy steps.settlements.state steps.settlements.said steps.settlements.keyId steps.settlements.signature steps.settledBy steps.stateDigest steps.looks.by steps.looks.byName steps.looks.capability steps.looks.requestDigest steps.looks.stateDigest steps.wouldCheck.capability steps.wouldCheck.fields steps.wouldCheck.request.method",
		"approval": "id runId stepId status planId projectId capability requestDigest request.method sources same requestedBy requestedByName identity onBehalfOf openAlike askedAgainAfter decidedBy decidedByName decisions.by decisions.byName decisions.byMakers decisions.groups decisions.onBehalfOf decisions.escalated decisions.assertion groups escalations requestedByMakers decidedByMakers stateDigest state.capability state.requestDigest state.request.method changed.field previousApprovalId decisions.stateDigest decisions.via suggestedFrom",
		"plan":     "id status name modelId scenarioId steps.id steps.name steps.projectId steps.capability steps.actionId steps.agentId steps.dependsOn steps.inputBindings steps.expectation.field team agents.id agents.projectId agents.modelId validationErrors planDigest projects createdBy createdByName",
	}
	for name, texts := range marks {
		doc, err := countersign.Marshal(shown[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range texts {
			if of, _, _ := strings.Cut(m.Path, "."); slices.Contains([]string{"planSnapshot", "modelSnapshot", "projectSnapshots", "models"}, of) {
				continue
			}
			stays := strings.Contains(strings.ToLower(string(doc)), m.Mark)
			may := slices.ContainsFunc(strings.Fields(left[name]), func(path string) bool { return m.Path == path || strings.HasPrefix(m.Path, path+".") })
			if stays != may {
				t.Errorf("%s.%s: stays %v, may stay %v", name, m.Path, stays, may)
			}
		}
	}
	if r := shown["run"].(countersign.Run); r.PlanSnapshot == nil || r.PlanSnapshot.RedactedAt != at || r.Redacted.At != at || run.Redacted.At == at {
		t.Errorf("%+v", r)
	}
}

// TestRedactingDoesNotChangeWhatIsGiven: records in memory are shared.
func TestRedactingDoesNotChangeWhatIsGiven(t *testing.T) {
	var run, same countersign.Run
	marked.Fill(&run)
	marked.Fill(&same)
	Run(&run, countersign.Redaction{})
	if !reflect.DeepEqual(run, same) {
		t.Error("it changed")
	}
}

func TestOfAnErrorTheCodeStays(t *testing.T) {
	r := Run(&countersign.Run{Error: "receiver_refused: the card of Ann was refused", Steps: []countersign.StepRun{}}, countersign.Redaction{})
	if r.Error != "receiver_refused: redacted" || r.Code() != countersign.CodeReceiverRefused || r.Steps == nil {
		t.Errorf("%+v", r)
	}
	if r := Run(&countersign.Run{}, countersign.Redaction{}); r.Error != "" || r.Steps != nil {
		t.Errorf("%+v", r)
	}
}
