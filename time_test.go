package countersign_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
)

func TestAnInstantMayBeWrittenInEachFormOfISO8601(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 20, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-27T20:04:05Z":            at,
		"2026-11-27t20:04:05z":            at,
		"20261127T200405Z":                at,
		"2026-11-27T200405Z":              at,
		"20261127T20:04:05Z":              at,
		"2026-11-27T22:04:05+02":          at,
		"2026-11-27T22:04:05+0200":        at,
		"2026-11-27T22:04:05+02:00":       at,
		"2026-11-27T14:34:05-05:30":       at,
		"2026-11-27T20:04Z":               at.Add(-5 * time.Second),
		"20261127T2004-00":                at.Add(-5 * time.Second),
		"2026-11-27T20:04:05.5Z":          at.Add(500 * time.Millisecond),
		"2026-11-27T20:04:05,123456789Z":  at.Add(123456789),
		"20261127T200405,000000001+00:00": at.Add(1),
		"2024-02-29T00:00:00Z":            time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		"0000-01-01T00:00Z":               time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if have, err := countersign.ParseInstant(text); err != nil || !have.Equal(want) {
			t.Errorf("%s is %v, %v; want %v", text, have, err, want)
		}
	}
}

func TestWhatNamesNoInstantIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "now", "2026-11-27", "2026-11-27T20:04:05", "2026-11-27 20:04:05Z", "2026-11-27T20Z",
		"2026-11-27T24:00:00Z", "2026-11-27T20:04:60Z", "2026-11-27T20:60:00Z", "2026-W48-5T20:04:05Z", "2026-331T20:04:05Z",
		"2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z", "2026-11-31T00:00:00Z", "2026-11-00T00:00:00Z",
		"2026-1127T20:04:05Z", "202611-27T20:04:05Z", "2026-11-27T20:0405Z", "2026-11-27T2004:05Z",
		"2026-11-27T20:04:05.Z", "2026-11-27T20:04:05.1234567890Z", "2026-11-27T20:04.5Z",
		"2026-11-27T20:04:05+24:00", "2026-11-27T20:04:05+02:60", "2026-11-27T20:04:05+2", "2026-11-27T20:04:05+020", "2026-11-27T20:04:05+02:0",
		"+2026-11-27T20:04:05Z", "2026-11-27T20:04:05Z\n", " 2026-11-27T20:04:05Z", "２026-11-27T20:04:05Z", "12026-11-27T20:04:05Z",
	} {
		if have, err := countersign.ParseInstant(text); err == nil {
			t.Errorf("%q was taken for %v", text, have)
		}
	}
}

func TestATimeThatIsShownAgainIsRFC3339(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-27T20:04:05Z":      "2026-11-27T20:04:05Z",
		"2026-11-27T20:04:05.500Z":  "2026-11-27T20:04:05.500Z",
		"20261127T200405Z":          "2026-11-27T20:04:05Z",
		"2026-11-27t20:04,5z":       "",
		"2026-11-27T20:04:05,5z":    "2026-11-27T20:04:05.5Z",
		"2026-11-27T22:04:05,5+02":  "2026-11-27T22:04:05.5+02:00",
		"2026-11-27T20:04:05,5Z":    "2026-11-27T20:04:05.5Z",
		"2026-11-27T20:04:05+02:00": "2026-11-27T20:04:05+02:00",
	} {
		have, err := countersign.RFC3339(text)
		if want == "" && err == nil || want != "" && (err != nil || have != want) {
			t.Errorf("%s is shown as %s, %v; want %s", text, have, err, want)
		}
	}
}
