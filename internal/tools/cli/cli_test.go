package cli

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
)

// TestTheHeadOfAnyNumberOfRecordsIsTheLogsOwn: the head is the one that the service's
// library computes.
func TestTheHeadOfAnyNumberOfRecordsIsTheLogsOwn(t *testing.T) {
	var stored []tlog.Hash
	leaves := map[int64]tlog.Hash{}
	read := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(at))
		for i, x := range at {
			out[i] = stored[x]
		}
		return out, nil
	})
	for n := range int64(70) {
		text := []byte(strings.Repeat("r", int(n)))
		more, err := tlog.StoredHashes(n, text, read)
		if err != nil {
			t.Fatal(err)
		}
		stored, leaves[n] = append(stored, more...), tlog.RecordHash(text)
		want, err := tlog.TreeHash(n+1, read)
		if err != nil || treeHash(leaves, 0, n+1) != want {
			t.Errorf("%d records: another head, %v", n+1, err)
		}
	}
}

func TestAnInstantIsATimeOrHowLongAgo(t *testing.T) {
	now := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "90m": now.Add(-90 * time.Minute), "2026-11-21": time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		"2026-11-21T14:00:00+01:00": now.Add(-2 * time.Hour), "2026-11-21 14:00:00": now.Add(-time.Hour),
	} {
		if got, err := instant(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-1h", "2026-13-01"} {
		if got, err := instant(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestAnInputIsTextOrJSON(t *testing.T) {
	for pair, want := range map[string]string{
		"a=1": `"1"`, "a:=1.10": `1.10`, "a=": `""`, "a=b=c": `"b=c"`, "a=x:=y": `"x:=y"`, `a:={"b":[null]}`: `{"b":[null]}`, "a:=null": "null",
	} {
		if name, v, err := assignment("--input", pair); err != nil || name != "a" || v.Raw() != want {
			t.Errorf("%q is %s = %s, %v; expected %s", pair, name, v.Raw(), err, want)
		}
	}
	for _, pair := range []string{"a", "=1", ":=1", "a:=", "a:=x", `a:={"b":1,"b":2}`} {
		if name, v, err := assignment("--input", pair); err == nil {
			t.Errorf("%q is %s = %s", pair, name, v.Raw())
		}
	}
}

func TestSpelledJSONIsTheSameJSON(t *testing.T) {
	text := string([]rune{'"', 0x9b, 0x202e, 0x200b, 0xfeff, 'a', '"'})
	if got := spelled(text); got != `"\u009b\u202e\u200b\ufeffa"` || countersign.RawValue(got).Text() != countersign.RawValue(text).Text() {
		t.Errorf("%q", got)
	}
	if got := Plain("a\x1b[2J\nb\tc\u202ed"); strings.ContainsAny(got, "\x1b\n\t\u202e") {
		t.Errorf("%q", got)
	}
}

// TestACutLineIsAsWideAsTheTerminal: the width counts characters, not bytes.
func TestACutLineIsAsWideAsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		line, want string
		width      int
	}{{"grün und gelb", "grün …", 6}, {"grün", "grün", 4}, {"grün", "grün", 0}, {"grün", "…", 1}} {
		if got := cut(c.line, c.width); got != c.want {
			t.Errorf("%q cut to %d is %q", c.line, c.width, got)
		}
	}
}

func TestAWatchPrintsWhatChangedAndNothingElse(t *testing.T) {
	at := time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC)
	now := countersign.Run{ID: "run-1", Status: countersign.RunRunning, UpdatedAt: at, Steps: []countersign.StepRun{{ID: "a", Status: countersign.StepRunning}, {ID: "later", Status: countersign.StepPending}}}
	var out strings.Builder
	printChanges(&out, &countersign.Run{}, &now)
	next := now
	next.Steps = []countersign.StepRun{{ID: "a", Status: countersign.StepCompleted, Verification: &countersign.Verification{Status: "PASSED", Field: "ok", Expected: countersign.Bool(true)}}, now.Steps[1]}
	printChanges(&out, &now, &next)
	printChanges(&out, &next, &next)
	want := `2026-11-21 15:04:05  a      RUNNING
2026-11-21 15:04:05  run    RUNNING
2026-11-21 15:04:05  a      COMPLETED  PASSED, ok: expected true, actual absent
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// TestTextOfOthersIsMarkedOnATerminal: untrusted text is shown in full.
func TestTextOfOthersIsMarkedOnATerminal(t *testing.T) {
	for given, want := range map[string]string{
		"a\u202eb":   `a\u202eb`,
		"p\u0430y":   "p\u0430y [mixes scripts: “\u0430” is Cyrillic (U+0430), looks like a]",
		"ord 5":      "ord 5",
		"\x1b[2Jx\n": `\u001b[2Jx\n`,
	} {
		if got := Plain(given); got != want {
			t.Errorf("%q became %q, expected %q", given, got, want)
		}
	}
	if got := doubted(`{"a":"p` + "\u0430" + `y\"","b":["ü",1],"c\\":"u` + "\u0308" + `"}`); got != `{"a":"p`+"\u0430"+`y\"" [mixes scripts: “`+"\u0430"+`” is Cyrillic (U+0430), looks like a],"b":["ü",1],"c\\":"u`+"\u0308"+`" [not NFC]}` {
		t.Error(got)
	}
}

func TestWhyAnApprovalIsAskedForIsSaidOnce(t *testing.T) {
	for _, status := range []countersign.ApprovalStatus{countersign.ApprovalPending, countersign.ApprovalApproved} {
		var out strings.Builder
		printApproval(&out, &countersign.Approval{ID: "apr-1", Status: status, Reasons: []string{"over 100"}})
		if n := strings.Count(out.String(), "over 100"); n != 1 {
			t.Errorf("%s: %d times\n%s", status, n, out.String())
		}
	}
}

// TestEveryEventOfWebhooksCanBeNamed: as `webhooks put --event`.
func TestEveryEventOfWebhooksCanBeNamed(t *testing.T) {
	field, _ := reflect.TypeFor[WebhooksPut]().FieldByName("Event")
	if got := strings.Split(field.Tag.Get("enum"), ","); !slices.Equal(got, countersign.WebhookEvents) {
		t.Errorf("--event takes %q, and the events are %q", got, countersign.WebhookEvents)
	}
}
