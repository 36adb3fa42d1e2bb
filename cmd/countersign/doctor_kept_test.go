package main

import (
	"testing"
	"time"
)

// TestDoctorWarnsOfARetentionBelowSixMonths, and of a redaction earlier than by default.
func TestDoctorWarnsOfARetentionBelowSixMonths(t *testing.T) {
	const day, do = 24 * time.Hour, "if the EU AI Act's article 26(6) binds you, set at least 184d; the audit log and the archives stay in any case"
	for _, c := range []struct {
		keep, redact time.Duration
		want         []string
	}{
		{0, 30 * day, nil},
		{184 * day, 30 * day, nil},
		{90 * day, 400 * day, []string{"runs leave the store, and have no receipt any more, 2160h0m0s after their end, which is less than six months"}},
		{0, day, []string{"what a run holds may be removed 24h0m0s after its end, earlier than by default"}},
	} {
		found := checkKept(t.Context(), config{Retention: c.keep, RedactAfter: c.redact})
		if len(found) != len(c.want) {
			t.Fatalf("%+v: %+v", c, found)
		}
		for i := range found {
			if found[i].State != findingWarning || found[i].Seen != c.want[i] || found[i].Do != do {
				t.Errorf("%+v: %+v", c, found[i])
			}
		}
	}
}
