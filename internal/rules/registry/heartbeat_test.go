package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

func beat(sequence int64, state countersign.InstanceState, sent time.Time) countersign.Heartbeat {
	return countersign.Heartbeat{InstanceID: "i-1", Sequence: sequence, State: state, Timestamp: sent.Format(time.RFC3339Nano)}
}

// heard is the instance after a heartbeat that arrives when it was sent, at noon.
func heard(t *testing.T, h countersign.Heartbeat) *countersign.Instance {
	t.Helper()
	i, duplicate, err := registry.Beat(nil, h, noon)
	if err != nil || duplicate {
		t.Fatalf("duplicate %v, %v", duplicate, err)
	}
	return &i
}

func TestFirstHeartbeatOfAnInstanceTakesAnySequence(t *testing.T) {
	for _, sequence := range []int64{0, 7, 1<<63 - 1} {
		want := &countersign.Instance{InstanceID: "i-1", Sequence: sequence, State: countersign.InstanceBusy, Timestamp: "2026-03-01T12:00:00Z", ReceivedAt: noon}
		if diff := cmp.Diff(want, heard(t, beat(sequence, countersign.InstanceBusy, noon))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNextSequenceReplacesWhatWasKnown(t *testing.T) {
	last := heard(t, beat(7, countersign.InstanceBusy, noon))
	at := noon.Add(time.Minute)
	got, duplicate, err := registry.Beat(last, beat(9, countersign.InstanceIdle, noon), at)
	want := countersign.Instance{InstanceID: "i-1", Sequence: 9, State: countersign.InstanceIdle, Timestamp: "2026-03-01T12:00:00Z", ReceivedAt: at}
	if diff := cmp.Diff(want, got); diff != "" || duplicate || err != nil {
		t.Errorf("duplicate %v, %v: %s", duplicate, err, diff)
	}
}

// TestDuplicateIsAcknowledgedHoweverOld and refreshes nothing: its clock is not
// judged again.
func TestDuplicateIsAcknowledgedHoweverOld(t *testing.T) {
	h := beat(7, countersign.InstanceIdle, noon)
	last := heard(t, h)
	for _, after := range []time.Duration{-time.Hour, 0, time.Second, 121 * time.Second, 1000 * time.Hour} {
		got, duplicate, err := registry.Beat(last, h, noon.Add(after))
		if diff := cmp.Diff(*last, got); diff != "" || !duplicate || err != nil {
			t.Errorf("after %s: duplicate %v, %v: %s", after, duplicate, err, diff)
		}
	}
}

// TestUsedSequenceIsAConflict unless everything else is the same too.
func TestUsedSequenceIsAConflict(t *testing.T) {
	last := heard(t, beat(7, countersign.InstanceIdle, noon))
	for name, h := range map[string]countersign.Heartbeat{
		"another state":      beat(7, countersign.InstanceBusy, noon),
		"another time":       beat(7, countersign.InstanceIdle, noon.Add(time.Nanosecond)),
		"the one below":      beat(6, countersign.InstanceIdle, noon),
		"a much earlier one": beat(0, countersign.InstanceIdle, noon),
	} {
		got, duplicate, err := registry.Beat(last, h, noon)
		if countersign.ErrorCode(err) != countersign.CodeSequenceConflict || duplicate || got != *last {
			t.Errorf("%s: duplicate %v, %v", name, duplicate, err)
		}
	}
}

func TestSequenceIsJudgedBeforeTheClock(t *testing.T) {
	last := heard(t, beat(7, countersign.InstanceIdle, noon))
	for sequence, want := range map[int64]countersign.Code{6: countersign.CodeSequenceConflict, 7: countersign.CodeSequenceConflict, 8: countersign.CodeInvalidRequest} {
		if _, _, err := registry.Beat(last, beat(sequence, countersign.InstanceIdle, noon.Add(time.Hour)), noon); countersign.ErrorCode(err) != want {
			t.Errorf("sequence %d: %v", sequence, err)
		}
	}
}

// TestClockMayBe120SecondsAway, to the nanosecond, in either direction.
func TestClockMayBe120SecondsAway(t *testing.T) {
	for _, sign := range []time.Duration{-1, 1} {
		if _, _, err := registry.Beat(nil, beat(1, countersign.InstanceIdle, noon.Add(sign*120*time.Second)), noon); err != nil {
			t.Errorf("%d x 120 s: %v", sign, err)
		}
		for _, away := range []time.Duration{120*time.Second + 1, 200 * 365 * 24 * time.Hour} {
			if _, _, err := registry.Beat(nil, beat(1, countersign.InstanceIdle, noon.Add(sign*away)), noon); countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
				t.Errorf("%d x %s: %v", sign, away, err)
			}
		}
	}
	for _, sent := range []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "yesterday", "2026-03-01T24:00:00Z"} {
		if _, _, err := registry.Beat(nil, countersign.Heartbeat{InstanceID: "i-1", Timestamp: sent}, noon); countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
			t.Errorf("%s: %v", sent, err)
		}
	}
}

func TestEqualInstantsAndONLINEAreTheSameHeartbeat(t *testing.T) {
	last := heard(t, beat(7, countersign.InstanceIdle, noon))
	for _, h := range []countersign.Heartbeat{
		{InstanceID: "i-1", Sequence: 7, State: countersign.InstanceIdle, Timestamp: "2026-03-01T13:00:00+01:00"},
		{InstanceID: "i-1", Sequence: 7, State: countersign.InstanceOnline, Timestamp: "20260301t1200z"},
	} {
		if got, duplicate, err := registry.Beat(last, h, noon.Add(time.Minute)); err != nil || !duplicate || got != *last {
			t.Errorf("%+v: duplicate %v, %v", h, duplicate, err)
		}
	}
	got, _, err := registry.Beat(last, countersign.Heartbeat{InstanceID: "i-1", Sequence: 8, State: countersign.InstanceOnline, Timestamp: "20260301T130001,5+01"}, noon)
	if err != nil || got.State != countersign.InstanceIdle || got.Timestamp != "2026-03-01T13:00:01.5+01:00" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestClockIsReadInAnyZone(t *testing.T) {
	for _, sent := range []string{"2026-03-01T12:00:00Z", "2026-03-01T12:00:00.999999999Z", "2026-03-01T17:30:00+05:30", "2026-03-01T04:00:00-08:00"} {
		if i, _, err := registry.Beat(nil, countersign.Heartbeat{InstanceID: "i-1", Timestamp: sent}, noon); err != nil || i.Timestamp != sent {
			t.Errorf("%s: %v", sent, err)
		}
	}
}

func TestHeartbeatIsCheckedByItself(t *testing.T) {
	tests := []struct {
		instance, timestamp string
		want                []string
	}{
		{"pod 7/ä", "2026-03-01T12:00:00.5+01:00", nil},
		{"a\nb", "2026-03-01T12:00:00Z", []string{"instanceId bad_id"}},
		{"a", "2026-03-01 12:00:00Z", []string{"timestamp bad_time"}},
		{"a", "2026-03-01T12:00:00", []string{"timestamp bad_time"}}, // no zone
		{"a", "20260301t1200,5Z", []string{"timestamp bad_time"}},    // a fraction without seconds
		{"a", "20260301t120000,5z", nil},
		{"a\x00", "now", []string{"instanceId bad_id", "timestamp bad_time"}},
	}
	for _, test := range tests {
		got := named(registry.CheckHeartbeat(countersign.Heartbeat{InstanceID: test.instance, Timestamp: test.timestamp}))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q at %q: %s", test.instance, test.timestamp, diff)
		}
	}
}

// TestAnyHistoryOfHeartbeats against a map of the last one of each instance:
// sequences only grow, and a duplicate refreshes nothing.
func TestAnyHistoryOfHeartbeats(t *testing.T) {
	type remembered struct {
		heartbeat countersign.Heartbeat
		at        time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		stored, reference := map[string]countersign.Instance{}, map[string]remembered{}
		now := noon
		for range rapid.IntRange(1, 40).Draw(t, "heartbeats") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{-30, 0, 1, 30, 120, 121}).Draw(t, "passed")) * time.Second)
			h := drawBeat(t, now)
			last, known := reference[h.InstanceID]
			if known && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
				h = last.heartbeat
			}
			sent, _ := time.Parse(time.RFC3339, h.Timestamp)
			want := countersign.Code("")
			switch duplicate := known && last.heartbeat == h; {
			case duplicate:
			case known && h.Sequence <= last.heartbeat.Sequence:
				want = countersign.CodeSequenceConflict
			case sent.After(now.Add(2*time.Minute)) || sent.Before(now.Add(-2*time.Minute)):
				want = countersign.CodeInvalidRequest
			default:
				reference[h.InstanceID] = remembered{h, now}
			}
			next, duplicate, err := registry.Beat(lastIn(stored, h.InstanceID), h, now)
			if countersign.ErrorCode(err) != want || duplicate != (known && last.heartbeat == h) {
				t.Fatalf("%+v after %+v: duplicate %v, %v, want %q", h, last, duplicate, err, want)
			}
			if err == nil {
				if next.Sequence < stored[h.InstanceID].Sequence {
					t.Fatalf("the sequence fell to %d", next.Sequence)
				}
				stored[h.InstanceID] = next
			}
			for id, r := range reference {
				if is := stored[id]; is.Sequence != r.heartbeat.Sequence || is.State != r.heartbeat.State || is.Timestamp != r.heartbeat.Timestamp || !is.ReceivedAt.Equal(r.at) {
					t.Fatalf("%s is %+v, want %+v", id, is, r)
				}
			}
		}
	})
}

func drawBeat(t *rapid.T, now time.Time) countersign.Heartbeat {
	away := time.Duration(rapid.SampledFrom([]int{-121, -120, 0, 0, 1, 120, 121}).Draw(t, "away")) * time.Second
	return countersign.Heartbeat{
		InstanceID: rapid.SampledFrom([]string{"i-1", "i-2", "i-3"}).Draw(t, "instance"), Sequence: rapid.Int64Range(0, 9).Draw(t, "sequence"),
		State:     rapid.SampledFrom([]countersign.InstanceState{"IDLE", "BUSY", "ERROR"}).Draw(t, "state"),
		Timestamp: now.Add(away).Format(time.RFC3339),
	}
}

func lastIn(stored map[string]countersign.Instance, id string) *countersign.Instance {
	if last, known := stored[id]; known {
		return &last
	}
	return nil
}

func TestAClockThatIsCenturiesAwayIsToldInWords(t *testing.T) {
	for _, sent := range []string{"9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z"} {
		_, _, err := registry.Beat(nil, countersign.Heartbeat{InstanceID: "i-1", Timestamp: sent}, noon)
		if err == nil || !strings.Contains(err.Error(), "it is more than a year from the server's ") {
			t.Errorf("%s: %v", sent, err)
		}
	}
}
