package apply

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

// TestWhatCanNotBeReadIsNamedWithItsFile, each message in full.
func TestWhatCanNotBeReadIsNamedWithItsFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	many := "[" + strings.Repeat(`{"kind":"group","id":"g","retired":true},`, MaxRecords/2)
	for _, c := range []struct{ text, says string }{
		{strings.Repeat(" ", MaxFileBytes+1), "it is larger than 1048576 bytes; put its records into several files"},
		{"a: &a b\nc: *a\n", "line 2: aliases (*) aren't taken; write the value out"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, problems := Read([]string{dir}); len(problems) != 1 || problems[0] != path+": "+c.says {
			t.Errorf("%q instead of %q", problems, c.says)
		}
	}
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(strings.TrimSuffix(many, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r := reading{first: map[string]string{}, count: MaxRecords}
	r.add(part{at: "a.json"})
	if len(r.problems) != 1 || r.problems[0] != "a.json: there are more than 10000 records; apply them in parts" {
		t.Errorf("%q", r.problems)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	r = reading{first: map[string]string{}}
	r.files([]named{{path: "pipe.json", mode: os.ModeNamedPipe}})
	if len(r.problems) != 1 || r.problems[0] != "pipe.json: it is no file" {
		t.Errorf("%q", r.problems)
	}
	if err := (&Record{Kind: setting}).retire(nil); err == nil || err.Error() != "retired: a setting stays; write what it is to be" {
		t.Errorf("%v", err)
	}
	err := Write(dir, nil)
	if err == nil || err.Error() != dir+": it isn't empty (0.json is in it); name a new folder" {
		t.Errorf("%v", err)
	}
	if err := unhealthy(&countersign.HealthCheck{StatusCode: 503, Error: "not 2xx"}); err.Error() != "it is not healthy, so it stays disabled: status 503, not 2xx" {
		t.Errorf("%v", err)
	}
}

// TestWhatIsWrittenAsYAMLIsReadAsTheSameJSON, whatever the texts look like to YAML.
func TestWhatIsWrittenAsYAMLIsReadAsTheSameJSON(t *testing.T) {
	odd := rapid.SampledFrom([]string{"yes", "No", "null", "~", "007", "0x1f", "1e400", "1_000", "2001-01-01", "12:30:45", "- a", "a: b", "#x", " x ", "x\n\ny\t", "*a", "&a", "!x", "<<", "=", ".inf", "", "\u2028", "\u0085", "\ufeff", "\x00"})
	text := rapid.OneOf(odd, rapid.String())
	number := rapid.SampledFrom([]string{"0", "-1", "1.50", "1e400", "1E+2", "12345678901234567890123", "0.1"})
	rapid.Check(t, func(t *rapid.T) {
		var list []countersign.Value
		fields := map[string]countersign.Value{"none": countersign.RawValue("null"), "yes": countersign.Bool(true), "empty": countersign.RawValue("[]")}
		for range rapid.IntRange(0, 5).Draw(t, "count") {
			list = append(list, countersign.String(text.Draw(t, "text")), countersign.RawValue(number.Draw(t, "number")))
			fields[text.Draw(t, "key")] = countersign.ArrayValue(list)
		}
		want := countersign.ObjectValue(fields)
		written, err := toYAML([]byte(want.Raw()))
		if err != nil {
			t.Fatal(err)
		}
		docs, err := fromYAML(written)
		if err != nil || len(docs) != 1 || !countersign.RawValue(docs[0]).Equal(want) {
			t.Fatalf("%s\nwas written as\n%s\nand read as %s (%v)", want.Raw(), written, docs, err)
		}
	})
}
