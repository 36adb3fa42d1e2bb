package records

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Archived is what stays of a run that went into a file (contract 6): what a repeat
// of its start is answered with, and where the rest is.
type Archived struct {
	Run      countersign.Run `json:"run"` // without steps and plan
	Projects []string        `json:"projects"`
	File     string          `json:"file"` // below the archive's directory
	SHA256   string          `json:"sha256"`
	At       time.Time       `json:"at"`

	Effects countersign.Effects `json:"effects,omitempty"` // by its steps; absent in records of earlier releases

	Requester access.Requester `json:"requester,omitzero"` // likewise
}

// AskedBy is who asked for the run, as far as the record says.
func (a *Archived) AskedBy() access.Requester {
	if a.Requester.ID == "" {
		return access.Requester{ID: a.Run.RequestedBy, Identity: a.Run.Identity, OnBehalfOf: a.Run.OnBehalfOf}
	}
	return a.Requester
}

// EffectsLeft is what became of the run's side effects, as far as that is known.
func (a *Archived) EffectsLeft() countersign.Effects {
	switch {
	case a.Effects != "":
		return a.Effects
	case a.Run.Status == countersign.RunCancelled:
		return countersign.EffectsOpen // it was cancelled before anything was sent, or after
	}
	return a.Run.Effects()
}

// ArchivedRuns are found by the run's id.
var ArchivedRuns = store.Collection[Archived]{Table: store.Archived}

// ArchivedOf is what stays of a run.
func ArchivedOf(r *Run, file, sha256 string, now time.Time) *Archived {
	left := &Archived{Run: r.Run, Projects: r.Projects, File: file, SHA256: sha256, At: now, Effects: r.Effects(), Requester: r.Requester}
	left.Run.PlanSnapshot, left.Run.Steps = nil, []countersign.StepRun{}
	return left
}

// ArchivedApproval says of which run an archived approval was, whose record names the file.
type ArchivedApproval struct {
	RunID     string `json:"runId"`
	ProjectID string `json:"projectId"` // whoever doesn't reach it isn't told
}

// ArchivedApprovals are found by the approval's id.
var ArchivedApprovals = store.Collection[ArchivedApproval]{Table: store.Meta}

// ArchivedApprovalID is the id of an archived approval's record.
func ArchivedApprovalID(approval string) string { return "archivedapproval/" + approval }
