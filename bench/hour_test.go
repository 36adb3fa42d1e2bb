package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestAQuantileOfAHistogramIsThatOfTheList, at most a 32nd more and never more than the longest.
func TestAQuantileOfAHistogramIsThatOfTheList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 10, 999, 10_000} {
		var h histogram
		all := make([]time.Duration, n)
		for i := range all {
			all[i] = time.Duration(random.ExpFloat64() * float64(20*time.Millisecond))
			h.add(all[i])
		}
		slices.Sort(all)
		for _, q := range []float64{0, 0.5, 0.99, 0.999, 1} {
			want := all[max(int(float64(n)*q+0.9999999), 1)-1]
			got := h.quantile(q)
			if got < want || got > want+want/32+time.Microsecond || got > all[n-1] {
				t.Errorf("%d durations, %g: %s, of the list %s", n, q, got, want)
			}
		}
	}
}

// TestEachBucketEndsWhereTheNextBegins.
func TestEachBucketEndsWhereTheNextBegins(t *testing.T) {
	for i := range histogramBuckets - 1 {
		if end := bucketEnd(i); bucketOf(end) != i || bucketOf(end+1) != i+1 {
			t.Fatalf("bucket %d ends at %s, which is in %d, and the next in %d", i, end, bucketOf(end), bucketOf(end+1))
		}
	}
	if bucketOf(-time.Second) != 0 || bucketOf(1<<62) != histogramBuckets-1 {
		t.Error("what is out of range isn't in the first and last bucket")
	}
}

func TestAnEmptyHistogramHasNoQuantile(t *testing.T) {
	if got := new(histogram).quantile(0.99); got != 0 {
		t.Error(got)
	}
}

// of is a histogram of n equal durations.
func of(n int, d time.Duration) *histogram {
	var h histogram
	for range n {
		h.add(d)
	}
	return &h
}

// TestAQuantileGrowsAboveItsFloorAndRatioAlone.
func TestAQuantileGrowsAboveItsFloorAndRatioAlone(t *testing.T) {
	f := flatness{0.99, 1.5, 10 * time.Millisecond}
	for _, x := range []struct {
		first, last *histogram
		want        string
	}{
		{of(1000, 20*time.Millisecond), of(1000, 20*time.Millisecond), "flat"},
		{of(1000, 20*time.Millisecond), of(1000, 29*time.Millisecond), "flat"},
		{of(1000, 20*time.Millisecond), of(1000, 32*time.Millisecond), "GROWS"},
		{of(1000, time.Millisecond), of(1000, 9*time.Millisecond), "flat"},
		{of(1000, 9*time.Millisecond), of(1000, 15*time.Millisecond), "GROWS"},
		{of(499, 20*time.Millisecond), of(1000, 90*time.Millisecond), "too few"},
		{of(1000, 20*time.Millisecond), of(0, 0), "too few"},
	} {
		if ratio, got := f.judge(x.first, x.last); got != x.want {
			t.Errorf("from %s to %s, %.2f: %s instead of %s", x.first.max, x.last.max, ratio, got, x.want)
		}
	}
}

// TestARunIsRightWhereEachOfItsStepsCameOnce.
func TestARunIsRightWhereEachOfItsStepsCameOnce(t *testing.T) {
	plain, approved := &planKind{steps: 10}, &planKind{steps: 3, before: 1}
	for _, x := range []struct {
		d      delivered
		status string
		right  bool
	}{
		{delivered{kind: plain, steps: 1<<10 - 1}, "COMPLETED", true},
		{delivered{kind: plain, steps: 1<<10 - 1, twice: 1}, "COMPLETED", false},
		{delivered{kind: plain, steps: 1<<9 - 1}, "COMPLETED", false},
		{delivered{kind: plain, steps: 1<<10 - 1}, "FAILED", false},
		{delivered{kind: plain, steps: 1<<10 - 1}, "RECOVERY_REQUIRED", false},
		{delivered{kind: approved, steps: 0b111}, "COMPLETED", true},
		{delivered{kind: approved, steps: 0b111, reject: true}, "COMPLETED", false},
		{delivered{kind: approved, steps: 0b1, reject: true}, "FAILED", true},
		{delivered{kind: approved, steps: 0b11, reject: true}, "FAILED", false},
		{delivered{kind: approved, steps: 0b1}, "FAILED", false},
		{delivered{kind: approved, steps: 0b1, unsure: true}, "FAILED", true},
		{delivered{kind: approved, steps: 0b111, unsure: true}, "COMPLETED", true},
	} {
		if err := x.d.judge(x.status); (err == nil) != x.right {
			t.Errorf("%+v, %s: %v", x.d, x.status, err)
		}
	}
}

// TestACallThatComesAgainIsCounted, also after the run's end, and under a step that no plan has.
func TestACallThatComesAgainIsCounted(t *testing.T) {
	l, at := newDeliveries(), time.Unix(0, 0)
	var gaps, ends []time.Duration
	l.gap = func(_ time.Time, d time.Duration) { gaps = append(gaps, d) }
	l.end = func(_ time.Time, d time.Duration) { ends = append(ends, d) }
	k := &planKind{steps: 2}
	l.started("run-1", k, at)
	l.saw("run-1", "s0", at.Add(time.Second), at.Add(2*time.Second))
	l.saw("run-1", "s1", at.Add(5*time.Second), at.Add(6*time.Second))
	if !slices.Equal(gaps, []time.Duration{3 * time.Second}) || !slices.Equal(ends, []time.Duration{6 * time.Second}) {
		t.Errorf("the gaps are %v, the ends %v", gaps, ends)
	}
	if err := l.runs["run-1"].judge("COMPLETED"); err != nil {
		t.Error(err)
	}
	l.saw("run-1", "s1", at, at)
	l.started("run-2", k, at)
	for _, step := range []string{"s0", "s1", "x"} {
		l.saw("run-2", step, at, at)
	}
	for _, id := range []string{"run-1", "run-2"} {
		if l.runs[id].judge("COMPLETED") == nil {
			t.Errorf("%s counts as right", id)
		}
	}
}

// TestARequestBelongsToThePartInWhichItWasDue, however long it took.
func TestARequestBelongsToThePartInWhichItWasDue(t *testing.T) {
	begin := time.Unix(1000, 0)
	r := newRoutes(begin, time.Hour, hourParts)
	for _, x := range []struct {
		after time.Duration
		part  int // -1: none
	}{{-time.Second, -1}, {0, 0}, {10*time.Minute - 1, 0}, {10 * time.Minute, 1}, {time.Hour - 1, 5}, {time.Hour, -1}} {
		r.took("a", begin.Add(x.after), time.Hour)
		n, in := r.partAt(begin.Add(x.after))
		if in != (x.part >= 0) || in && n != x.part {
			t.Errorf("%s is in part %d, %t", x.after, n, in)
		}
	}
	if a := r.all["a"].parts; a[0].n != 2 || a[1].n != 1 || a[5].n != 1 {
		t.Errorf("%d, %d and %d", a[0].n, a[1].n, a[5].n)
	}
}
