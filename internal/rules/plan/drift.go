package plan

import (
	"fmt"

	"github.com/countersign/countersign"
)

// Kinds of subjects.
const (
	KindModel   = "model"
	KindProject = "project"
	KindAgent   = "agent"
	KindTeam    = "team"
)

// Subject identifies something that a plan is made from.
type Subject struct{ Kind, ID string }

// CurrentRevision is the current state of a model, project, agent or team: only what
// the drift check needs, so that checking before each step costs the same for a model
// of a megabyte. The zero value means that it no longer exists.
type CurrentRevision struct {
	Revision  int64
	Suspended bool
	Retired   bool
	Disabled  bool // projects only

	AnswerKeys string // of a project that has any now, with blanks between them; they are no part of its revision
}

// CurrentRevisions is a snapshot of everything that a plan was made from.
type CurrentRevisions map[Subject]CurrentRevision

// Seen is a subject with the revision that the plan was made from.
type Seen struct {
	Subject
	Revision int64
}

// Subjects lists what the plan was made from: team, agents and their models, or the
// model; then the projects.
func Subjects(p *countersign.Plan) []Seen {
	out := executorSubjects(p, make([]Seen, 0, 2+2*len(p.Agents)+len(p.Projects)))
	if len(out) == 0 && (p.ModelID != "" || p.Status == countersign.PlanInvalid) { // a run of one call has none
		out = append(out, Seen{Subject{KindModel, p.ModelID}, p.ModelRevision})
	}
	for _, ref := range p.Projects {
		out = append(out, Seen{Subject{KindProject, ref.ID}, ref.Revision})
	}
	return out
}

// executorSubjects appends the team and agents of a plan, each model once.
func executorSubjects(p *countersign.Plan, out []Seen) []Seen {
	if p.Team != nil {
		out = append(out, Seen{Subject{KindTeam, p.Team.ID}, p.Team.Revision})
	}
	for _, a := range p.Agents {
		out = append(out, Seen{Subject{KindAgent, a.ID}, a.Revision})
	}
	models := map[string]bool{}
	for _, a := range p.Agents {
		if a.ModelID != "" && !models[a.ModelID] {
			out = append(out, Seen{Subject{KindModel, a.ModelID}, a.ModelRevision})
		}
		models[a.ModelID] = true
	}
	return out
}

// Drift compares everything that the plan was made from with its current state.
func Drift(p *countersign.Plan, now CurrentRevisions) countersign.Drift {
	d := countersign.Drift{Current: true, Changes: []countersign.Change{}}
	for _, seen := range Subjects(p) {
		s := now[seen.Subject]
		if s.Revision != seen.Revision || s.Suspended || s.Retired {
			d.Current = false
			d.Changes = append(d.Changes, change(seen, s))
		}
	}
	return d
}

// Refusal is why a run of the plan may not start or continue: drift, or for LIVE a
// disabled project; nil if it may.
func Refusal(p *countersign.Plan, mode string, now CurrentRevisions) *countersign.Error {
	if d := Drift(p, now); !d.Current {
		return countersign.Errorf(countersign.CodeDrift, "%s", d.Changes[0].Message)
	}
	return Disabled(p, mode, now)
}

// RetiredPart names the first retired subject of the plan, nil if there is none.
// Nothing new may start with it.
func RetiredPart(p *countersign.Plan, now CurrentRevisions) *countersign.Error {
	for _, seen := range Subjects(p) {
		if now[seen.Subject].Retired {
			return Retired(seen.Kind, seen.ID)
		}
	}
	return nil
}

// Retired is the error for starting something new with a retired subject.
func Retired(kind, id string) *countersign.Error {
	return countersign.Errorf(countersign.CodeStateConflict, "%s %s is retired; an ADMIN brings it back with POST /%ss/%s/restore", kind, id, kind, id)
}

// Disabled names the first disabled project of a LIVE run, nil when none is.
func Disabled(p *countersign.Plan, mode string, now CurrentRevisions) *countersign.Error {
	for _, ref := range p.Projects {
		if mode == countersign.ModeLive && now[Subject{KindProject, ref.ID}].Disabled {
			return countersign.Errorf(countersign.CodeProjectDisabled, "project %s is disabled; an ADMIN enables it", ref.ID)
		}
	}
	return nil
}

func change(seen Seen, now CurrentRevision) countersign.Change {
	c := countersign.Change{Kind: seen.Kind, ID: seen.ID, Planned: seen.Revision, Current: now.Revision, Suspended: now.Suspended, Retired: now.Retired}
	switch {
	case now.Revision == 0:
		c.Message = fmt.Sprintf("%s %s is gone", seen.Kind, seen.ID)
	case now.Retired:
		c.Message = Retired(seen.Kind, seen.ID).Message
	case now.Suspended:
		c.Message = fmt.Sprintf("%s %s is suspended; when it is %s, make the plan again", seen.Kind, seen.ID, endOfSuspension(seen.Kind))
	default:
		c.Message = fmt.Sprintf("%s %s changed from revision %d to %d after the plan was made; make the plan again", seen.Kind, seen.ID, seen.Revision, now.Revision)
	}
	return c
}

func endOfSuspension(kind string) string {
	if kind == KindAgent {
		return "admitted anew"
	}
	return "resumed"
}
