package chat_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/storage/records"
)

// TestWhateverFailsTheEndIsToldAndARepeatSaysSo: requests fail before and after they are
// done, processes end, and two people approve, in any order. Then only a message whose
// sending was interrupted may still look open, and there is a later one that says so.
func TestWhateverFailsTheEndIsToldAndARepeatSaysSo(t *testing.T) {
	failures := []error{chat.RefusedError{Code: "x"}, chat.LaterError{After: 3 * time.Second}, errors.New("lost")}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := openRoom(t)
		r.ask("acme", "one", func(a *records.Approval) { a.ApprovalsNeeded = 2 })
		decided, lost := 0, 0
		for range 25 {
			switch random.IntN(6) {
			case 0:
				r.restart()
			case 1:
				i := random.IntN(len(failures))
				r.failing, r.arrives = failures[i], i == 2 && random.IntN(2) == 0
			case 2:
				if decided == 0 {
					decided++
					r.decide("one", pending, "user:ben@x")
				} else if decided == 1 && random.IntN(4) == 0 {
					decided++
					r.decide("one", approved, "user:cem@x")
				}
			default:
				before, losing := len(r.posts), r.failing != nil && r.arrives
				r.look(time.Duration(random.IntN(40)) * time.Second)
				if losing && len(r.posts) > before && r.failing == nil {
					lost++
				}
			}
		}
		r.failing = nil
		if decided < 2 {
			r.look(time.Hour)
			r.decide("one", approved, "user:cem@x")
		}
		r.look(time.Hour)
		r.look(time.Hour)
		open := 0
		for i, p := range r.posts {
			if p.Open {
				open++
			}
			if i > 0 && !p.Again {
				t.Errorf("seed %d: message %d doesn't say that it may be another", seed, i+1)
			}
		}
		if last := len(r.posts) - 1; last >= 0 && r.posts[last].Open || open > lost || r.kept() != 0 {
			t.Fatalf("seed %d: %d messages of %d are open, %d were lost, %d records are kept", seed, open, len(r.posts), lost, r.kept())
		}
	}
}
