package core

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A tenant may want changes that weaken a gate to be made by several (contract 12.7). Whether one
// weakens is what its audit record says, so the one place that writes these records holds it
// back, and no use case can forget to ask: its transaction ends with nothing written, and the request is
// kept to be made again, by the same use case, in the transaction of the last approval.

// Asked is a request in the form in which it can be made again: what its path names, and its body.
type Asked struct {
	ID   string
	Body any
}

// Asking is the actor with what it asks for. A use case whose operation may be proposed begins with
// it.
func (a Actor) Asking(id string, body any) Actor {
	if a.Making == nil {
		a.asked = &Asked{ID: id, Body: body}
	}
	return a
}

// Making is a proposed change that is being made. The use case runs for its proposer; what belongs
// to the decision is written in the same transaction.
type Making struct {
	Operation access.Operation
	Stood     string // the digest of what stood when it was proposed

	// Within runs the use case's transaction.
	Within func(tx store.Tx, change func() error) error
}

// ErrStood says that what a change was proposed on has moved.
var ErrStood = &countersign.Error{Code: countersign.CodeRevisionConflict}

// HeldError is a change that isn't made but proposed.
type HeldError struct {
	Tenant    string // whose gate it weakens
	Operation access.Operation
	Subject   string
	Change    Change
	Asked     Asked
	By        countersign.Weakening // as it stood
}

// unaskableError is an operation that weakens, and that nobody has made askable: it isn't made.
type unaskableError access.Operation

func (u unaskableError) Error() string {
	return "core: " + string(u) + " weakens, and can't be proposed"
}

func (h *HeldError) Error() string { return "core: " + string(h.Operation) + " is to be proposed" }

// Stood is the digest of what stands before a change.
func (c Change) Stood() (string, error) {
	return countersign.CanonicalDigest(map[string]any{"before": c.Before, "revision": c.Revision, "was": c.Was})
}

// guard holds back a change that weakens, where the tenant wants that. What the operator does on
// the machine is theirs.
func (s *Core) guard(tx store.Tx, tenant string, a Actor, op access.Operation, subject string, c Change) error {
	if m := a.Making; m != nil && m.Operation == op {
		stood, err := c.Stood()
		if err == nil && stood != m.Stood {
			err = ErrStood
		}
		return err
	}
	if !c.Weakens || a.ID == countersign.SystemPrincipal || access.GuardOf(op) == access.Answered {
		return nil
	}
	settings, err := records.SettingsOf(tx, tenant)
	if err != nil || settings.Weakening == nil {
		return err
	}
	if !access.MayBeProposed(op) || a.asked == nil {
		return unaskableError(op)
	}
	return &HeldError{Tenant: tenant, Operation: op, Subject: access.About(op, subject), Change: c, Asked: *a.asked, By: *settings.Weakening}
}

// Member is what is shown of a change in one field of a record; an empty list isn't there.
func Member[T any](name string, v T) countersign.Value { return Members(map[string]any{name: v}) }

// Members is Member for several.
func Members(fields map[string]any) countersign.Value {
	out := map[string]countersign.Value{}
	for name, v := range fields {
		value, err := countersign.ValueOf(v)
		if list, is := value.Array(); err == nil && !value.IsNull() && !(is && len(list) == 0) && value.Raw() != `""` {
			out[name] = value
		}
	}
	return countersign.ObjectValue(out)
}

// Proposing keeps a change that was held back, and answers with its refusal.
type Proposing func(ctx context.Context, a Actor, h *HeldError) error

// proposed has a change proposed that err holds back; any other error it returns.
func (s *Core) proposed(ctx context.Context, a Actor, err error) error {
	var held *HeldError
	if !errors.As(err, &held) {
		return err
	}
	return s.Propose(ctx, a, held)
}
