package receipt

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// entry is one request that was approved or sent, with the exact texts of its digest:
// the canonical form of a body is not the body that was sent. A masked request has no
// digest and no entry, that of a redacted run a digest alone.
type entry struct {
	Body            string `json:"body"` // "" for none
	Capability      string `json:"capability"`
	Digest          string `json:"digest"`
	Method          string `json:"method"`
	ProjectID       string `json:"projectId"`
	ProjectRevision int64  `json:"projectRevision"`
	URL             string `json:"url"`
	Headers         string `json:"headers,omitempty"`
	Masked          bool   `json:"masked,omitempty"` // of a redacted run: what the digest is of is gone
}

// requestsOf lists each request of the steps and then the approvals once.
func requestsOf(f Facts) []entry {
	list := []entry{}
	add := func(r *countersign.Request, digest, projectID, capability string) {
		known := func(e entry) bool { return e.Digest == digest }
		if r == nil || digest == "" || slices.ContainsFunc(list, known) {
			return
		}
		list = append(list, entryOf(f, *r, digest, projectID, capability))
	}
	for _, s := range f.Run.Steps {
		add(s.Request, s.RequestDigest.Text(), s.ProjectID, s.Capability)
	}
	for _, a := range f.Approvals {
		add(&a.Request, a.RequestDigest, a.ProjectID, a.Capability)
	}
	return list
}

func entryOf(f Facts, r countersign.Request, digest, projectID, capability string) entry {
	if f.Run.Redacted != nil {
		return entry{Capability: capability, Digest: digest, ProjectID: projectID, ProjectRevision: revisionOf(f.Run.PlanSnapshot, projectID), Method: r.Method, Masked: true}
	}
	return entry{
		Capability: capability, Digest: digest, ProjectID: projectID, ProjectRevision: revisionOf(f.Run.PlanSnapshot, projectID),
		Method: r.Method, URL: r.URL, Body: request.BodyText(r), Headers: r.Headers.Raw(),
	}
}

func revisionOf(p *countersign.Plan, projectID string) int64 {
	if p == nil {
		return 0
	}
	for _, ref := range p.Projects {
		if ref.ID == projectID {
			return ref.Revision
		}
	}
	return 0
}
