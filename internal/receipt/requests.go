package receipt

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/request"
)

// entry is one request that was approved or sent, with the texts that its digest is
// taken of, to the byte: the canonical form of a body is not what went over the
// wire. A masked one has the digest and what it was for, and no texts.
type entry struct {
	Body            *string `json:"body,omitempty"` // "" for none
	Capability      string  `json:"capability"`
	Digest          string  `json:"digest"`
	Masked          bool    `json:"masked,omitempty"`
	Method          string  `json:"method,omitempty"`
	ProjectID       string  `json:"projectId"`
	ProjectRevision int64   `json:"projectRevision"`
	URL             string  `json:"url,omitempty"`
}

// requestsOf lists each request of the steps and approvals once, in that order.
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

// entryOf leaves the texts out of a receipt with masks where they are not those
// that the digest was taken of. In any other receipt that shows what is wrong.
func entryOf(f Facts, r countersign.Request, digest, projectID, capability string) entry {
	e := entry{Capability: capability, Digest: digest, ProjectID: projectID, ProjectRevision: revisionOf(f.Run.PlanSnapshot, projectID)}
	if f.Masked && request.Digest(r, projectID, e.ProjectRevision, capability) != digest {
		e.Masked = true
		return e
	}
	body := request.BodyText(r)
	e.Method, e.URL, e.Body = r.Method, r.URL, &body
	return e
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
