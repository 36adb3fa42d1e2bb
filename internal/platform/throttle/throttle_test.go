package throttle_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/throttle"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestABurstIsAllowedAndThenOneInEachInterval(t *testing.T) {
	th := throttle.New(throttle.Rate{Burst: 3, Every: time.Minute}, 10)
	for i, want := range []bool{true, true, true, false} {
		if got := th.Allow("a", noon); got != want {
			t.Errorf("attempt %d: %v", i+1, got)
		}
	}
	if !th.Allow("b", noon) {
		t.Error("another key pays for the first one")
	}
	if !th.Allow("a", noon.Add(time.Minute)) || th.Allow("a", noon.Add(time.Minute)) {
		t.Error("a minute later it is not exactly one more")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	th := throttle.New(throttle.Rate{Burst: 1, Every: time.Minute}, 100)
	for i := range 100 {
		if !th.Allow(strconv.Itoa(i), noon) {
			t.Fatalf("key %d was refused", i)
		}
	}
	if !th.Allow("one more", noon) {
		t.Error("strangers took the place of a key that never tried")
	}
}

// TestManyKeysNeitherRefuseOthersNorFreeWhoTriedTooOften: an attacker with many keys makes
// the throttle forget other keys, but not those with the most attempts.
func TestManyKeysNeitherRefuseOthersNorFreeWhoTriedTooOften(t *testing.T) {
	th := throttle.New(throttle.Rate{Burst: 5, Every: time.Minute}, 100)
	for range 5 {
		th.Allow("greedy", noon)
	}
	for i := range 10_000 {
		if !th.Allow(strconv.Itoa(i), noon) {
			t.Fatalf("key %d was refused", i)
		}
		if th.Allow("greedy", noon) {
			t.Fatalf("after %d other keys the one that tried too often begins anew", i)
		}
	}
}

func TestAClockThatIsSetBackGivesNothing(t *testing.T) {
	th := throttle.New(throttle.Rate{Burst: 1, Every: time.Minute}, 10)
	th.Allow("a", noon)
	if th.Allow("a", noon.Add(-time.Hour)) {
		t.Error("an earlier clock gave another attempt")
	}
}

func TestABucketOfAClockThatWasFarAheadRefusesNobody(t *testing.T) {
	r := throttle.Rate{Burst: 2, Every: time.Minute}
	if _, allowed := r.Take(noon.AddDate(1, 0, 0), noon); !allowed {
		t.Error("an attempt of next year counts")
	}
	if _, allowed := r.Take(noon.Add(2*time.Minute), noon); allowed {
		t.Error("an empty bucket gives something")
	}
}

func TestARefusedAttemptCostsNothing(t *testing.T) {
	r := throttle.Rate{Burst: 1, Every: time.Minute}
	bucket, _ := r.Take(time.Time{}, noon)
	if after, allowed := r.Take(bucket, noon); allowed || !after.Equal(bucket) {
		t.Errorf("%v, %v", after, allowed)
	}
}
