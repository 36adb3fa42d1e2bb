package httpapi

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func TestFewWhoGotNoSlotComeBackAfterASecond(t *testing.T) {
	var c comebacks
	for i := range 1000 {
		if s := c.refused(noon.Add(time.Duration(i) * 10 * time.Millisecond)); s != 1 {
			t.Fatalf("the %d. of a hundred in each second comes back after %d s", i, s)
		}
	}
}

// TestManyWhoGotNoSlotComeBackOneAfterTheOther: in each second half as many as start, until the
// latest moment, at which the others come.
func TestManyWhoGotNoSlotComeBackOneAfterTheOther(t *testing.T) {
	for _, started := range []int{0, 40, 200, 1000} {
		var c comebacks
		for range started {
			c.granted(noon)
		}
		at := noon.Add(time.Second)
		back := map[int]int{}
		for range 20000 {
			back[c.refused(at)]++
		}
		want := max(100, started/2)
		for s := 1; s < 20 && (s+1)*want < 20000; s++ {
			if n := back[s]; n < want-1 || n > want+1 {
				t.Errorf("%d started in a second, and %d come back after %d s, not %d", started, n, s, want)
			}
		}
		if len(back) > 20 || back[0] != 0 {
			t.Errorf("%d started in a second: after 1 to 20 s come back %v", started, back)
		}
	}
}

// TestComebacksEndWithTheOverload: when those who waited have come back, one who is refused
// waits a second again; also where the clock was set back meanwhile.
func TestComebacksEndWithTheOverload(t *testing.T) {
	for _, back := range []time.Duration{0, time.Hour} {
		var c comebacks
		for range 20000 {
			c.refused(noon)
		}
		now := noon.Add(-back)
		if s := c.refused(now); s != 20 {
			t.Errorf("the last of very many comes back after %d s", s)
		}
		if s := c.refused(now.Add(19 * time.Second)); s != 1 {
			t.Errorf("after all have come back, it is %d s", s)
		}
	}
}

// TestStartsOfLongAgoBringNobodyBack: runs that started two seconds ago say nothing of now.
func TestStartsOfLongAgoBringNobodyBack(t *testing.T) {
	var c comebacks
	for range 1000 {
		c.granted(noon)
	}
	last := 0
	for range 300 {
		last = c.refused(noon.Add(2 * time.Second))
	}
	if last != 3 {
		t.Errorf("the 300th comes back after %d s, where a hundred do in a second", last)
	}
}

// TestAnOverloadEndsWithItsCause: a service can start 300 runs a second, or refuse ten starts for
// each. 250 a second are asked for. It stands still for five seconds, and a minute later nobody
// waits any more.
func TestAnOverloadEndsWithItsCause(t *testing.T) {
	const (
		perSecond, asked, ticks = 300, 250, 100 // in a second
		refusal                 = 0.1           // its work, in runs
	)
	var c comebacks
	due := map[int]int{} // starts that are sent again, by tick
	work := 0.0          // what the service can do now, in runs
	for tick := range 65 * ticks {
		now := noon.Add(time.Duration(tick) * time.Second / ticks)
		due[max(tick, 5*ticks)] += (tick+1)*asked/ticks - tick*asked/ticks
		if tick < 5*ticks {
			continue
		}
		work = min(work+float64(perSecond)/ticks, perSecond)
		for ; due[tick] > 0; due[tick]-- {
			if work >= 1 {
				work--
				c.granted(now)
				continue
			}
			work -= refusal
			due[tick+c.refused(now)*ticks]++
		}
		delete(due, tick)
	}
	if len(due) > 0 {
		t.Errorf("a minute later there are starts that wait at %d moments", len(due))
	}
}

// TestATenantsRefusalsDelayNoOther: however often one tenant is refused, another one's caller is
// told to come back after a second.
func TestATenantsRefusalsDelayNoOther(t *testing.T) {
	a := &API{cfg: Config{Now: func() time.Time { return noon }}}
	refuse := func(tenant string) string {
		c := &call{w: httptest.NewRecorder()}
		c.actor.Tenant = tenant
		a.countStart(c, countersign.Errorf(countersign.CodeCapacity, "no slot"))
		return c.w.Header().Get("Retry-After")
	}
	for range 5000 {
		refuse("acme")
	}
	if of, other := refuse("acme"), refuse("globex"); of != "20" || other != "1" {
		t.Errorf("the tenant that is refused often waits %s s, another one %s s", of, other)
	}
}
