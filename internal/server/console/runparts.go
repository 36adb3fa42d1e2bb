package console

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// intent says what a step will do, and where.
func intent(r *countersign.Run, i int) string {
	if i < 0 {
		return ""
	}
	s := &r.Steps[i]
	words := stepTitle(r, i)
	if s.Request == nil {
		return words + "."
	}
	return words + ": " + s.Request.Method + " " + strings.TrimPrefix(strings.TrimPrefix(s.Request.URL, "https://"), "http://") + "."
}

func stepTitle(r *countersign.Run, i int) string {
	if i < 0 {
		return "the step"
	}
	return "“" + nameOf(&r.Steps[i]) + "”"
}

func nameOf(s *countersign.StepRun) string { return cmp.Or(s.Name, s.ID) }

// hostOf is the host that a step calls.
func hostOf(s *countersign.StepRun) string {
	if s.Request != nil {
		if u, err := url.Parse(s.Request.URL); err == nil && u.Host != "" {
			return u.Host
		}
	}
	return s.ProjectID
}

func stepIndex(r *countersign.Run, id string) int {
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return i
		}
	}
	return -1
}

func indexOfStep(r *countersign.Run, status countersign.StepStatus) int {
	for i := range r.Steps {
		if r.Steps[i].Status == status {
			return i
		}
	}
	return -1
}

func timeoutOf(p *countersign.Plan, s *countersign.StepRun) time.Duration {
	if c := capabilityOf(p, s.ProjectID, s.Capability); c != nil {
		return c.Timeout()
	}
	return 0
}

// capabilityOf is the capability that a step calls, from the plan's snapshot; nil if it
// isn't there.
func capabilityOf(p *countersign.Plan, projectID, name string) *countersign.Capability {
	if project := projectOf(p, projectID); project != nil {
		return project.Capability(name)
	}
	return nil
}

func projectOf(p *countersign.Plan, id string) *countersign.Project {
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
