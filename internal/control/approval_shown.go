package control

import (
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/ledger"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/request"
	"github.com/countersign/countersign/internal/store"
)

// showApproval completes an approval for who reads it: with what its principals are
// called and where else the same was asked for, and without what they may not see.
func (s *Service) showApproval(tx store.Tx, a Actor, ap *countersign.Approval) (err error) {
	if err := nameApproval(tx, a.Tenant, ap); err != nil {
		return err
	}
	if ap.Same, err = s.sameRequests(tx, a, ap); err != nil {
		return err
	}
	return s.maskApproval(tx, a, ap)
}

// How far back, and how many, other runs with the same request are named; and how many
// approvals are looked through for them.
const (
	sameWithin = 90 * 24 * time.Hour
	sameMost   = 10
	sameLooked = 200
)

// sameRequests are the steps of other runs in scope with the same request. Whatever
// needs an approval by its project's revision has one, and the digest holds the
// revision: so all of them are found among the approvals.
func (s *Service) sameRequests(tx store.Tx, a Actor, ap *countersign.Approval) (out []countersign.SameRequest, err error) {
	found, err := records.Approvals.List(tx, a.Tenant, store.Query{Order: newestFirst, Limit: sameLooked, Where: []store.Filter{
		store.Equal("digest", ap.RequestDigest),
		{Column: "created", Op: store.AtLeast, Values: []any{s.cfg.Now().Add(-sameWithin).UnixMicro()}},
	}})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i := range found {
		other := &found[i]
		key := other.RunID + "/" + other.StepID // attempts of one step are one
		if other.RunID == ap.RunID || seen[key] {
			continue
		}
		seen[key] = true
		same, err := sameStep(tx, a, &other.Approval)
		if err != nil {
			return nil, err
		}
		if same == nil {
			continue
		}
		if out = append(out, *same); len(out) == sameMost {
			break
		}
	}
	return out, nil
}

// sameStep is the step of another approval, nil where the actor may not see its run or
// the run is archived.
func sameStep(tx store.Tx, a Actor, ap *countersign.Approval) (*countersign.SameRequest, error) {
	rec, _, err := records.Runs.Get(tx, a.Tenant, ap.RunID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil || access.InScope(a.Principal, rec.Projects...) != nil {
		return nil, err
	}
	var out *countersign.SameRequest
	err = ledger.EachStep(tx, ledger.Ref{Tenant: a.Tenant, RunID: ap.RunID}, 0, func(step *countersign.StepRun) {
		if step.ID == ap.StepID {
			out = &countersign.SameRequest{RunID: ap.RunID, StepID: step.ID, Status: step.Status, At: ap.RequestedAt}
		}
	})
	return out, err
}

// maskAsked masks what an approval says besides its request. That the same was asked
// for elsewhere tells as much of a value as the value.
func (h *hidden) maskAsked(ap *countersign.Approval, input map[string]countersign.Value) {
	ap.Same = nil
	ap.Expectation = h.expected(ap.Expectation)
	switch {
	case ap.Title == "":
	case h.capability == nil:
		ap.Title = masked.Text()
	default:
		ap.Title = h.title(input)
	}
}

// title is the capability's title without what is hidden.
func (h *hidden) title(input map[string]countersign.Value) string {
	return request.Title(h.capability.Title, func(place string) (countersign.Value, bool) {
		if h.on(place) {
			return masked, true
		}
		v, ok := request.InputAt(input, place)
		return h.members(v), ok
	})
}

// expected masks the expectations of an approval, one or an array of them.
func (h *hidden) expected(v countersign.Value) countersign.Value {
	if list, ok := v.Array(); ok {
		return countersign.ArrayValue(each(list, h.expected))
	}
	m, ok := v.Object()
	if !ok {
		return v
	}
	m["equals"] = h.field(m["field"].Text(), m["equals"])
	return countersign.ObjectValue(m)
}
