package outbound

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/rules/request"
)

// TestNothingIsSentAfterItsTime, by whichever clock it is over.
func TestNothingIsSentAfterItsTime(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		before, wall time.Time
		ok           bool
	}{
		"no bound":                          {time.Time{}, now, true},
		"in time":                           {now.Add(time.Minute), now, true},
		"over":                              {now.Add(-time.Millisecond), now, false},
		"over, the wall clock was set back": {now.Add(-time.Millisecond), now.Add(-time.Hour), false},
		"the machine slept":                 {now.Add(time.Minute), now.Add(time.Hour), false},
		"the machine slept until then":      {now.Add(time.Minute), now.Add(time.Minute), false},
		"the wall clock was set back":       {now.Add(time.Minute), now.Add(-time.Hour), true},
		"long over, both ways":              {now.Add(-time.Hour), now, false},
	} {
		m := message{sendBefore: c.before, wall: func() time.Time { return c.wall }}
		if err := m.mayBeSent(t.Context()); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAMachineThatSleptSendsNothing: while it slept its monotonic clock stood still,
// and its lease ended by everybody else's.
func TestAMachineThatSleptSendsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	call := b.call(t, "POST")
	call.SendBefore = time.Now().Add(time.Hour)
	b.client.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if o := b.client.Call(t.Context(), call); o.Certainty != request.NotSent || o.Cause != string(errTooLate) {
		t.Errorf("%+v", o)
	}
	if sent := b.delivered(t); len(sent) > 0 {
		t.Errorf("sent %q", sent)
	}
}
