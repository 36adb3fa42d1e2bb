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
