package throttle_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/throttle"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestABurstIsAllowedAndThenOneInEachInterval(t *testing.T) {
	th := throttle.New(3, time.Minute, 10)
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
	th := throttle.New(1, time.Minute, 100)
	for i := range 100 {
		if !th.Allow(strconv.Itoa(i), noon) {
			t.Fatalf("key %d was refused", i)
		}
	}
	if th.Allow("one more", noon) {
		t.Error("a key more than it may remember was allowed")
	}
	if !th.Allow("one more", noon.Add(time.Minute)) {
		t.Error("full buckets are not forgotten")
	}
}

func TestAClockThatIsSetBackGivesNothing(t *testing.T) {
	th := throttle.New(1, time.Minute, 10)
	th.Allow("a", noon)
	if th.Allow("a", noon.Add(-time.Hour)) {
		t.Error("an earlier clock gave another attempt")
	}
}
