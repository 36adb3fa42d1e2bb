package approvals

import (
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/server/console/web"
)

// stateOld is the age from which a state is shown as one that may have changed.
const stateOld = 15 * time.Minute

// stateRow is a field of the state that was read.
type stateRow struct {
	Field, Then, Now string
	Moved            bool
}

// StateRows are the fields of the state beside what they were in the approval before; what changed stands
// first.
func (d *Data) StateRows() (rows []stateRow) {
	if d.State == nil {
		return nil
	}
	then := map[string]countersign.Value{}
	for _, c := range d.ChangedState() {
		then[c.Field] = c.Then
		rows = append(rows, stateRow{safetext.Escaped(c.Field), safetext.Escaped(c.Then.Raw()), safetext.Escaped(c.Now.Raw()), true})
	}
	for _, name := range slices.Sorted(maps.Keys(d.State.Values)) {
		if _, moved := then[name]; !moved {
			v := safetext.Escaped(d.State.Values[name].Raw())
			rows = append(rows, stateRow{safetext.Escaped(name), v, v, false})
		}
	}
	return rows
}

// ChangedState is what of the state isn't as it was; Changed is what of the request isn't.
func (d *Data) ChangedState() []countersign.StateChange { return d.Approval.Changed }

// Old reports a state that was read a while before.
func (d *Data) Old(now time.Time) bool { return d.State != nil && now.Sub(d.State.At) > stateOld }

// LastTime reports an approval after which no other is asked for because of a change.
func (d *Data) LastTime() bool { return d.AskedAgain >= countersign.MaxAskedAgain }

// Asks is which of at most how many approvals of the attempt it is.
func (d *Data) Asks() int64 { return d.AskedAgain + 1 }

// MostAsks is how many there may be.
func (d *Data) MostAsks() int { return countersign.MaxAskedAgain + 1 }

// ReadWith is what the read was sent with besides its address.
func (d *Data) ReadWith() (out []stateRow) {
	if d.State == nil || d.State.Request == nil {
		return nil
	}
	for _, m := range []struct {
		name string
		v    countersign.Value
	}{{"Headers", d.State.Request.Headers}, {"Body", d.State.Request.Body}} {
		if !m.v.IsZero() && !m.v.IsNull() {
			out = append(out, stateRow{Field: m.name, Now: safetext.Escaped(m.v.Raw())})
		}
	}
	return out
}

// lookAgain has the state read again, and shows the approval with it.
func lookAgain(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if _, err := v.Control.LookAgain(v.R.Context(), v.Actor, id); err != nil {
		return "", decideAgain(v, id, err)
	}
	return "/approvals/" + id, nil
}
