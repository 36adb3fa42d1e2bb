package runrepo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// madeStep is a step of a run in a list of many, with all that lists leave out.
func madeStep(runID string, i, bytes int) *countersign.StepRun {
	return &countersign.StepRun{
		ID: fmt.Sprint("step-", i), Status: countersign.StepCompleted, Attempt: 1, IdempotencyKey: runID,
		Input:    map[string]countersign.Value{"order": countersign.String("A-1")},
		Request:  &countersign.Request{Method: "POST", URL: "https://api.example.com/refunds"},
		Response: &countersign.Response{StatusCode: 200, Bytes: 23},
		Output:   countersign.String(strings.Repeat("x", bytes)),
		Probes: []countersign.ProbeRecord{ // as an older release kept them
			{N: 1, By: bob.ID, At: dawn, Capability: "look", Output: countersign.RawValue(`{"seen":true}`)},
		},
	}
}

// addSteps stores the steps of a run, and probes in records of their own.
func addSteps(tx store.Tx, runID string, steps, probes, bytes int) error {
	for i := range steps {
		if _, err := records.Steps(runID, i, "").Put(tx, "acme", records.StepID(runID, i), madeStep(runID, i, bytes), 0); err != nil {
			return err
		}
	}
	for n := range probes {
		if _, err := records.Probes(runID, n+1).Put(tx, "acme", records.ProbeID(runID, n+1), &records.Probe{}, 0); err != nil {
			return err
		}
	}
	return nil
}

// TestStepsReadTogetherAreThoseReadRunByRun, whatever runs stand between those of the page,
// however their ids begin and however large their steps are.
func TestStepsReadTogetherAreThoseReadRunByRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`run(-[01]){1,4}`), 1, 20, rapid.ID).Draw(t, "runs")
		h := open(t)
		h.update(func(tx store.Tx) error {
			for _, id := range ids {
				size := rapid.SampledFrom([]int{1, 1, 1, 40 << 10}).Draw(t, "bytes")
				if err := addSteps(tx, id, rapid.IntRange(0, 20).Draw(t, "steps"), rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(t, "probes"), size); err != nil {
					return err
				}
			}
			return nil
		})
		page := slices.DeleteFunc(rapid.Permutation(ids).Draw(t, "page"), func(string) bool { return rapid.IntRange(0, 3).Draw(t, "left out") == 0 })
		h.view(func(tx store.Tx) error {
			found, err := runrepo.ListedSteps(tx, "acme", page)
			if err != nil {
				return err
			}
			for id, steps := range found {
				if !slices.Contains(page, id) {
					t.Errorf("%s is not on the page", id)
				}
				want := []countersign.StepRun{}
				if err := runrepo.EachStep(tx, refOf(id), 0, func(s *countersign.StepRun) { want = append(want, runrepo.ListedStep(*s)) }); err != nil {
					return err
				}
				if diff := cmp.Diff(want, steps, cmp.Comparer(countersign.Value.Equal)); diff != "" {
					t.Errorf("steps of %s: %s", id, diff)
				}
			}
			return nil
		})
	})
}

// TestAPageOfRunsCostsFewReads where its runs were made one after the other, and no more than
// one of other rows where they weren't.
func TestAPageOfRunsCostsFewReads(t *testing.T) {
	const runs, steps = 100, 3
	s := memory.New()
	h := &fixture{t: t, store: s}
	var all []string
	h.update(func(tx store.Tx) error {
		for n := range runs * 10 {
			all = append(all, fmt.Sprintf("run-%04d", n))
			if err := addSteps(tx, all[n], steps, 0, 10); err != nil {
				return err
			}
		}
		return nil
	})
	h.view(func(tx store.Tx) error {
		r := &reading{Tx: tx}
		found, err := runrepo.ListedSteps(r, "acme", all[200:200+runs])
		if len(found) != runs || r.lists > 8 {
			t.Errorf("the steps of %d of %d runs are read together, by %d lists", len(found), runs, r.lists)
		}
		if err != nil {
			return err
		}
		var apart []string
		for n := 0; n < len(all); n += 10 {
			apart = append(apart, all[n])
		}
		r = &reading{Tx: tx}
		if _, err = runrepo.ListedSteps(r, "acme", apart); r.lists > 1 {
			t.Errorf("%d lists look for runs that stand apart", r.lists)
		}
		return err
	})
}

// TestLargeStepsAreNotReadTogether: a page of runs may have gibibytes.
func TestLargeStepsAreNotReadTogether(t *testing.T) {
	const runs, size = 50, 100 << 10
	h := &fixture{t: t, store: memory.New()}
	var all []string
	h.update(func(tx store.Tx) error {
		for n := range runs {
			all = append(all, fmt.Sprintf("run-%04d", n))
			if err := addSteps(tx, all[n], 1, 0, size); err != nil {
				return err
			}
		}
		return nil
	})
	h.view(func(tx store.Tx) error {
		r := &reading{Tx: tx}
		_, err := runrepo.ListedSteps(r, "acme", all)
		if r.most > 20*size || r.all > 20*size {
			t.Errorf("%d bytes of steps are read together, %d of them at once", r.all, r.most)
		}
		return err
	})
}
