package outbound

import (
	"testing"
	"time"
)

// TestNothingIsSentAfterItsTime, by whichever clock it is over.
func TestNothingIsSentAfterItsTime(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		before time.Time
		ok     bool
	}{
		"no bound":             {time.Time{}, true},
		"in time":              {now.Add(time.Minute), true},
		"over":                 {now.Add(-time.Millisecond), false},
		"over by the wall":     {now.Round(0).Add(-time.Millisecond), false},
		"in time by the wall":  {now.Round(0).Add(time.Minute), true},
		"long over, both ways": {now.Add(-time.Hour), false},
	} {
		m := message{sendBefore: c.before}
		if err := m.mayBeSent(t.Context()); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
