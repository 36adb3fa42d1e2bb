package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// race plays rounds on each store until every store has had its repeats; a round counts as `each` repeats.
func race(t *testing.T, limit, each int, round func(h *fixture, n int)) {
	inLots(t, func(t *testing.T, opened store.Store, from, to int) {
		playRounds(newFixture(t, opened, limit), from, to, each, round)
	})
}

// inLots plays the repeats on each kind of store, in lots on a new store each, since a store becomes slower with its content.
func inLots(t *testing.T, play func(t *testing.T, opened store.Store, from, to int)) {
	t.Parallel()
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			first, total := firstRound(t), s.times()
			for n := 0; n < total && !t.Failed(); n += lot {
				opened, err := s.open(t)
				if err != nil {
					t.Fatal(err)
				}
				play(t, opened, first+n, first+min(n+lot, total))
			}
			t.Logf("%d repeats played, from round %d on", total, first)
		})
	}
}

// firstRound is random: rounds differ by their number, so that with few repeats not always the same variants are left out.
func firstRound(t *testing.T) int {
	t.Helper()
	return int(seed.First(t) % 12)
}

func playRounds(h *fixture, from, to, each int, round func(h *fixture, n int)) {
	defer h.close()
	for n := from; n < to && !h.t.Failed(); n += each {
		round(h, n)
	}
}

// all does n things concurrently and returns their errors.
func all(n int, do func(i int) error) []error {
	errs := make([]error, n)
	together(n, func(i int) { errs[i] = do(i) })
	return errs
}

// count is how many of the errors have the code; "" counts successes.
func count(errs []error, code countersign.Code) (n int) {
	for _, err := range errs {
		if countersign.ErrorCode(err) == code {
			n++
		}
	}
	return n
}

// wantOneWinner: one success, and all other errors have the code late.
func (f *fixture) wantOneWinner(errs []error, late countersign.Code) (winner int) {
	f.t.Helper()
	if count(errs, "") != 1 || count(errs, late) != len(errs)-1 {
		f.t.Fatalf("the answers are %v, want one success and else %s", errs, late)
	}
	for i, err := range errs {
		if err == nil {
			winner = i
		}
	}
	return winner
}

// wantRun: the run and its step have these statuses.
func (f *fixture) wantRun(r countersign.Run, status countersign.RunStatus, step countersign.StepStatus) {
	f.t.Helper()
	if r.Status != status || r.Steps[0].Status != step {
		f.t.Errorf("run %s is %s, want %s with %s", r.ID, picture(&r), status, step)
	}
}
