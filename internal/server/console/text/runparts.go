package text

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// Intent says what a step will do, and where.
func Intent(r *countersign.Run, i int) string {
	if i < 0 {
		return ""
	}
	s := &r.Steps[i]
	words := StepTitle(r, i)
	if s.Request == nil {
		return words + "."
	}
	return words + ": " + s.Request.Method + " " + strings.TrimPrefix(strings.TrimPrefix(s.Request.URL, "https://"), "http://") + "."
}

// StepTitle is a step's name in quotation marks.
func StepTitle(r *countersign.Run, i int) string {
	if i < 0 {
		return "the step"
	}
	return "“" + NameOf(&r.Steps[i]) + "”"
}

// NameOf is a step's name, else its ID.
func NameOf(s *countersign.StepRun) string { return cmp.Or(s.Name, s.ID) }

// HostOf is the host that a step calls.
func HostOf(s *countersign.StepRun) string {
	if s.Request != nil {
		if u, err := url.Parse(s.Request.URL); err == nil && u.Host != "" {
			return u.Host
		}
	}
	return s.ProjectID
}

// StepIndex is where a run has a step; -1 for nowhere.
func StepIndex(r *countersign.Run, id string) int {
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return i
		}
	}
	return -1
}

// IndexOfStep is where the first step with a status stands; -1 for nowhere.
func IndexOfStep(r *countersign.Run, status countersign.StepStatus) int {
	for i := range r.Steps {
		if r.Steps[i].Status == status {
			return i
		}
	}
	return -1
}

// TimeoutOf is how long a call of a step may take; 0 if the plan doesn't say.
func TimeoutOf(p *countersign.Plan, s *countersign.StepRun) time.Duration {
	if c := CapabilityOf(p, s.ProjectID, s.Capability); c != nil {
		return c.Timeout()
	}
	return 0
}

// CapabilityOf is the capability that a step calls, from the plan's snapshot; nil if it
// isn't there.
func CapabilityOf(p *countersign.Plan, projectID, name string) *countersign.Capability {
	if project := ProjectOf(p, projectID); project != nil {
		return project.Capability(name)
	}
	return nil
}

// ProjectOf is a project of the plan's snapshots; nil if it isn't there.
func ProjectOf(p *countersign.Plan, id string) *countersign.Project {
	if p == nil {
		return nil
	}
	for i := range p.ProjectSnapshots {
		if p.ProjectSnapshots[i].ID == id {
			return &p.ProjectSnapshots[i]
		}
	}
	return nil
}
