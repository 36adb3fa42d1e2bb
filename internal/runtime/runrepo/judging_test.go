package runrepo

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// takes is a piece of work of so many steps.
func takes(n int, each int, between func()) func(m *cost.Meter) {
	return func(m *cost.Meter) {
		for range n / each {
			if !m.Take(each, "a") {
				return
			}
			if between != nil && m.Spent() > cost.Little {
				between()
			}
		}
	}
}

// TestWhoAsksForLittleDoesNotWaitForWhoAsksForMuch: neither behind a piece of work that is
// under way, nor behind others of its kind that wait.
func TestWhoAsksForLittleDoesNotWaitForWhoAsksForMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{MaxActive: 1, NewID: func(string) string { return "" }})
		hold, first := make(chan bool), sync.Once{}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if err := l.Judge(context.Background(), "a", takes(cost.Most, cost.Slice, func() { first.Do(func() { <-hold }) })); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		var judged int64
		if err := l.Judge(context.Background(), "b", func(m *cost.Meter) { takes(cost.Little, 1000, nil)(m); judged = m.Spent() }); err != nil || judged != cost.Little {
			t.Errorf("%d steps: %v", judged, err)
		}
		close(hold)
		all.Wait()
	})
}

// TestMuchIsJudgedInPieces: another tenant's turn comes before it has ended.
func TestMuchIsJudgedInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{MaxActive: 1, NewID: func(string) string { return "" }})
		// The end is noted by the work itself, while it has the place: who has left it may be
		// overtaken before it says so.
		var ended []string
		var all sync.WaitGroup
		judge := func(tenant string, steps int, between func()) {
			work := takes(steps, cost.Slice, between)
			all.Go(func() {
				err := l.Judge(context.Background(), tenant, func(m *cost.Meter) {
					if work(m); !m.Over() {
						ended = append(ended, tenant)
					}
				})
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		hold, first := make(chan bool), sync.Once{}
		judge("a", cost.Most, func() { first.Do(func() { <-hold }) })
		judge("b", 2*cost.Little, nil)
		close(hold)
		all.Wait()
		if len(ended) != 2 || ended[0] != "b" {
			t.Errorf("%v ended in this order", ended)
		}
	})
}

// TestTooMuchIsRefusedWhereverItIsJudged.
func TestTooMuchIsRefusedWhereverItIsJudged(t *testing.T) {
	l := New(Config{MaxActive: 1, NewID: func(string) string { return "" }})
	err := l.Judge(context.Background(), "a", takes(cost.Most+cost.Slice, cost.Slice, nil))
	if countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		t.Error(err)
	}
}

// TestSmallPiecesTogetherAreLittle: what several meters count is bounded as a whole.
func TestSmallPiecesTogetherAreLittle(t *testing.T) {
	a := &allowance{left: 100}
	for range 3 {
		const before = 7
		m := a.take(cost.New(context.Background(), before+a.remains(), before))
		m.Take(40, "a")
	}
	if !a.over() || a.left > 0 {
		t.Errorf("%+v", a)
	}
}
