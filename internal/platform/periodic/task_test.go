package periodic_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/platform/periodic"
)

func TestTheFirstRoundIsAtOnceAndStopEndsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := periodic.Start(time.Second, func(context.Context) { n++ })
		time.Sleep(2500 * time.Millisecond)
		r.Stop()
		time.Sleep(time.Hour)
		if n != 3 {
			t.Errorf("%d rounds in two and a half seconds", n)
		}
	})
}

func TestStopEndsTheRoundThatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		r := periodic.Start(time.Second, func(ctx context.Context) {
			ended = !periodic.Pause(ctx, time.Hour)
		})
		synctest.Wait()
		r.Stop()
		if !ended {
			t.Error("it has returned before its round")
		}
	})
}

func TestRoundsThatNeverBeganStop(t *testing.T) {
	var r *periodic.Task
	r.Stop()
}

func TestAPauseIsAsLongAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !periodic.Pause(t.Context(), time.Minute) || time.Since(began) != time.Minute {
			t.Error("it ended after", time.Since(began))
		}
	})
}

// TestASparingTaskRestsInProportionToItsRounds, and keeps its interval while they are short.
func TestASparingTaskRestsInProportionToItsRounds(t *testing.T) {
	for _, c := range []struct {
		takes, apart time.Duration
	}{{time.Millisecond, time.Second}, {3 * time.Second, 33 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			var began []time.Time
			task := periodic.Sparing(time.Second, 10, func(context.Context) {
				began = append(began, time.Now())
				time.Sleep(c.takes) // virtual
			})
			time.Sleep(5 * c.apart)
			task.Stop()
			if d := began[1].Sub(began[0]); d != c.apart {
				t.Errorf("rounds of %s begin %s apart, expected %s", c.takes, d, c.apart)
			}
		})
	}
}
