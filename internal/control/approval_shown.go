package control

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/store"
)

// showApproval prepares an approval for its reader: it adds the principals' names and
// masks what the reader may not see.
func (s *Service) showApproval(tx store.Tx, a Actor, ap *countersign.Approval) error {
	if err := nameApproval(tx, a.Tenant, ap); err != nil {
		return err
	}
	return s.maskApproval(tx, a, ap)
}

// maskAsked masks the parts of an approval other than its request.
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

// title returns the capability's title with hidden values masked.
func (h *hidden) title(input map[string]countersign.Value) string {
	return request.Title(h.capability.Title, func(place string) (countersign.Value, bool) {
		if h.on(place) {
			return masked, true
		}
		v, ok := request.InputAt(input, place)
		return h.members(v), ok
	})
}

// expected masks the expectation of an approval, or an array of them.
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
