package lease

import (
	"testing"
	"time"
)

// TestALeaseIsOverByWhicheverClock: one stands still while the machine sleeps, the other
// may be set back.
func TestALeaseIsOverByWhicheverClock(t *testing.T) {
	until := time.Now().Add(time.Minute)
	at := until.Add
	for name, c := range map[string]struct {
		now, wall time.Duration
		good      bool
	}{
		"good":              {-time.Second, -time.Second, true},
		"over":              {0, 0, false},
		"the machine slept": {-time.Second, time.Hour, false},
		"slept until then":  {-time.Second, 0, false},
		"set back":          {time.Second, -time.Hour, false},
	} {
		if before(at(c.now), at(c.wall), until) != c.good {
			t.Error(name)
		}
	}
}
