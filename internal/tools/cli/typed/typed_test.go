package typed

import (
	"testing"
	"time"
)

func TestAnInstantIsATimeOrHowLongAgo(t *testing.T) {
	now := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "90m": now.Add(-90 * time.Minute), "2026-11-21": time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		"2026-11-21T14:00:00+01:00": now.Add(-2 * time.Hour), "2026-11-21 14:00:00": now.Add(-time.Hour),
	} {
		if got, err := Instant(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-1h", "2026-13-01"} {
		if got, err := Instant(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestAnInputIsTextOrJSON(t *testing.T) {
	for pair, want := range map[string]string{
		"a=1": `"1"`, "a:=1.10": `1.10`, "a=": `""`, "a=b=c": `"b=c"`, "a=x:=y": `"x:=y"`, `a:={"b":[null]}`: `{"b":[null]}`, "a:=null": "null",
	} {
		if name, v, err := Assignment("--input", pair); err != nil || name != "a" || v.Raw() != want {
			t.Errorf("%q is %s = %s, %v; expected %s", pair, name, v.Raw(), err, want)
		}
	}
	for _, pair := range []string{"a", "=1", ":=1", "a:=", "a:=x", `a:={"b":1,"b":2}`} {
		if name, v, err := Assignment("--input", pair); err == nil {
			t.Errorf("%q is %s = %s", pair, name, v.Raw())
		}
	}
}
