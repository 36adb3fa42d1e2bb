package control

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/store"
)

// showApproval completes an approval for who reads it: with what its principals are
// called, and without what they may not see.
func (s *Service) showApproval(tx store.Tx, a Actor, ap *countersign.Approval) error {
	if err := nameApproval(tx, a.Tenant, ap); err != nil {
		return err
	}
	return s.maskApproval(tx, a, ap)
}

// maskAsked masks what an approval says besides its request.
func (h *hidden) maskAsked(ap *countersign.Approval, input map[string]countersign.Value) {
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
