package overview

import "testing"

func TestATimeIsReadAsPeopleAndBrowsersWriteIt(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01": "2026-03-01T00:00:00Z", "2026-03-01 14:30": "2026-03-01T14:30:00Z", "2026-03-01T14:30": "2026-03-01T14:30:00Z",
		" 2026-03-01T14:30:05.5+02:00 ": "2026-03-01T12:30:05Z",
	} {
		if got, ok := timeOf(text); !ok || got.UTC().Format("2006-01-02T15:04:05Z") != want {
			t.Errorf("%q: %v %v", text, got, ok)
		}
	}
	for _, text := range []string{"yesterday", "2026", "2026-13-01", "14:30"} {
		if got, ok := timeOf(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got, ok := timeOf(" "); !ok || !got.IsZero() {
		t.Error("blank is no time")
	}
}
