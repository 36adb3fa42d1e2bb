package records

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// formerSpending is the record as the release before wrote it.
type formerSpending struct {
	Next    int64            `json:"next"`
	First   int64            `json:"first"`
	LastAt  time.Time        `json:"lastAt,omitzero"`
	Tallies map[string]Tally `json:"tallies"`
	Open    []Spent          `json:"open,omitempty"`
}

// TestASpendingIsWrittenAsBefore: the spelled-out encoding is that of the general one, byte
// for byte, and is read back.
func TestASpendingIsWrittenAsBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(0, 1<<40)
		at := rapid.Map(number, func(n int64) time.Time { return time.Unix(0, n*1e6+n%7).UTC() })
		former := formerSpending{Next: number.Draw(t, "next"), First: number.Draw(t, "first"), Tallies: map[string]Tally{}}
		if rapid.Bool().Draw(t, "sent") {
			former.LastAt = at.Draw(t, "last")
		}
		s := Spending{Next: former.Next, First: former.First, LastAt: former.LastAt}
		for key, count := range rapid.MapOf(rapid.String(), rapid.Int64Range(0, 3)).Draw(t, "tallies") {
			tally := Tally{Tail: number.Draw(t, "tail"), Count: count, Sum: "249/10", Beyond: count / 2}
			if count > 0 {
				tally.At = at.Draw(t, "at")
			}
			former.Tallies[key] = tally
		}
		for range rapid.IntRange(0, SpentPerPart-1).Draw(t, "entries") {
			e := Spent{At: at.Draw(t, "at"), Step: rapid.String().Draw(t, "step"), Amounts: rapid.MapOfN(rapid.String(), rapid.SampledFrom([]string{"24.9", "0", "1/3", SpentBeyond}), 0, 6).Draw(t, "amounts")}
			former.Open, s.Open = append(former.Open, e), append(s.Open, e.Encode())
		}
		want, err := countersign.Marshal(&former)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Decode(want, &s); err != nil {
			t.Fatal(err)
		}
		got := s.append(nil)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("-before +now\n%s", diff)
		}
		general, err := countersign.Marshal(&s)
		if diff := cmp.Diff(string(want), string(general)); diff != "" || err != nil {
			t.Fatalf("-before +now %v\n%s", err, diff)
		}
	})
}
