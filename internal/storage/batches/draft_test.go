package batches_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

// TestWhatIsLeftForTheTurnIsToldHowLongAgoItsFunctionBegan: what the function knows of the time
// may be as old.
func TestWhatIsLeftForTheTurnIsToldHowLongAgoItsFunctionBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, cache := sqldoc.NewConn(nil, sqldoc.Dialect{}), batches.NewCache()
		r, answer := turns.NewRequest(), make(chan error, 1)
		var told []time.Duration
		go func() {
			answer <- r.Serve(context.Background(), func(tx store.Tx) error {
				time.Sleep(time.Second)
				return store.AtTurn(tx, func(_ store.Tx, waited time.Duration) error {
					told = append(told, waited)
					return nil
				})
			})
		}()
		d := batches.NewDraft(conn, cache)
		d.Run(r)
		time.Sleep(time.Second)
		if len(told) > 0 || !batches.New(conn, nil, cache, false).TakeOver(d, r) {
			t.Error("it is not taken over")
		}
		r.Answer(nil)
		if err := <-answer; err != nil || len(told) != 1 || told[0] != 2*time.Second {
			t.Errorf("it is told %v: %v", told, err)
		}
	})
}
