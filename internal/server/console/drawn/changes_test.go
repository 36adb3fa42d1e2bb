package drawn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func posts(body string) countersign.Request {
	return countersign.Request{Method: "POST", URL: "https://pay.example/refunds", Query: countersign.Null, Body: countersign.RawValue(body)}
}

func TestARequestIsComparedFieldByFieldAndDigitForDigit(t *testing.T) {
	for name, c := range map[string]struct {
		then, now    string
		want         []alteration
		same, hidden []string
	}{
		"the same":                 {`{"a":1}`, `{"a":1}`, nil, []string{"destination", "a"}, nil},
		"digits":                   {`{"a":89.90}`, `{"a":89.9}`, []alteration{{"a", "89.90", "89.9"}}, []string{"destination"}, nil},
		"beyond a float":           {`{"a":9007199254740993}`, `{"a":9007199254740992}`, []alteration{{"a", "9007199254740993", "9007199254740992"}}, []string{"destination"}, nil},
		"kinds":                    {`{"a":1}`, `{"a":"1"}`, []alteration{{"a", "1", `"1"`}}, []string{"destination"}, nil},
		"added and gone":           {`{"a":1}`, `{"b":1}`, []alteration{{"a", "1", ""}, {"b", "", "1"}}, []string{"destination"}, nil},
		"null is not absent":       {`{"a":null}`, `{}`, []alteration{{"a", "null", ""}}, []string{"destination"}, nil},
		"within an object":         {`{"c":{"id":1,"k":2}}`, `{"c":{"id":3,"k":2}}`, []alteration{{"c.id", "1", "3"}}, []string{"destination", "c.k"}, nil},
		"an object for a scalar":   {`{"c":1}`, `{"c":{"id":1}}`, []alteration{{"c", "1", `{"id":1}`}}, []string{"destination"}, nil},
		"keys in another order":    {`{"l":[{"a":1,"b":2}]}`, `{"l":[{"b":2,"a":1}]}`, nil, []string{"destination", "l"}, nil},
		"a body that is no object": {`[1]`, `[2]`, []alteration{{"body", "[1]", "[2]"}}, []string{"destination"}, nil},
		"masked":                   {`{"card":"•••","a":1}`, `{"card":"•••","a":2}`, []alteration{{"a", "1", "2"}}, []string{"destination"}, []string{"card"}},
		"masked in a list":         {`{"l":[{"card":"•••"}]}`, `{"l":[{"card":"•••"}]}`, nil, []string{"destination"}, []string{"l"}},
		"without a body":           {`null`, `null`, nil, []string{"destination"}, nil},
	} {
		got := AlteredFrom(posts(c.then), posts(c.now))
		if !slices.Equal(got.Fields, c.want) || !slices.Equal(got.Same, c.same) || !slices.Equal(got.Hidden, c.hidden) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAnotherDestinationOrQueryIsAChange(t *testing.T) {
	then := countersign.Request{Method: "GET", URL: "https://a.example/x?q=1", Query: countersign.RawValue(`{"q":1}`), Body: countersign.Null}
	now := countersign.Request{Method: "DELETE", URL: "https://b.example/x?q=2", Query: countersign.RawValue(`{"q":2}`), Body: countersign.Null}
	want := []alteration{{"destination", "GET https://a.example/x", "DELETE https://b.example/x"}, {"query.q", "1", "2"}}
	if got := AlteredFrom(then, now); !slices.Equal(got.Fields, want) {
		t.Errorf("%+v", got)
	}
}

// TestOtherHeadersAreAChange: the secret in one is shown to nobody, and is no change.
func TestOtherHeadersAreAChange(t *testing.T) {
	then, now := posts(`{"a":1,"headers":{"x":1}}`), posts(`{"a":1,"headers":{"x":1}}`)
	then.Headers = countersign.RawValue(`{"X-Environment":"staging","Authorization":"Basic desk:•••","X-Old":"1"}`)
	now.Headers = countersign.RawValue(`{"X-Environment":"production","Authorization":"Basic desk:•••","X-New":"1"}`)
	want := []alteration{{"headers.X-Environment", `"staging"`, `"production"`}, {"headers.X-New", "", `"1"`}, {"headers.X-Old", `"1"`, ""}}
	got := AlteredFrom(then, now)
	if !slices.Equal(got.Fields, want) || got.Hidden != nil || !slices.Contains(got.Same, "headers.Authorization") || !slices.Contains(got.Same, `"headers".x`) {
		t.Errorf("%+v", got)
	}
	now.Headers = countersign.Value{}
	if got := AlteredFrom(then, now); len(got.Fields) != 1 || got.Fields[0].Field != "headers" || got.Fields[0].Now != "" {
		t.Errorf("%+v", got)
	}
}

// TestAComparisonNamesEveryChange: whoever proposes a request would else choose which
// of its changes are seen.
func TestAComparisonNamesEveryChange(t *testing.T) {
	var then, now strings.Builder
	for i := range 500 {
		fmt.Fprintf(&then, `,"k%03d":%d,"s%03d":1`, i, i, i)
		fmt.Fprintf(&now, `,"k%03d":%d,"s%03d":1`, i, i+1, i)
	}
	got := AlteredFrom(posts("{"+then.String()[1:]+"}"), posts("{"+now.String()[1:]+"}"))
	if len(got.Fields) != 500 || len(got.Same) != 501 {
		t.Errorf("%d fields differ and %d don't", len(got.Fields), len(got.Same))
	}
	deep := strings.Repeat(`{"a":`, 30)
	end := strings.Repeat("}", 30)
	if got := AlteredFrom(posts(deep+"1"+end), posts(deep+"2"+end)).Fields; len(got) != 1 || got[0].Then != "1" || got[0].Now != "2" {
		t.Errorf("%+v", got)
	}
}

func TestALongValueIsShownWholeAndWhatDiffersInItIsMarked(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	then, now := `"`+long+"1"+long+`3"`, `"`+long+"2"+long+`4"`
	fields := AlteredFrom(posts(`{"a":`+then+`}`), posts(`{"a":`+now+`}`)).Fields
	if len(fields) != 1 || fields[0].Then != then || fields[0].Now != now {
		t.Fatalf("%d fields", len(fields))
	}
	want := "<bdi>&#34;" + long + "<mark>2" + long + "4</mark>&#34;</bdi>"
	if got := string(highlighted(now, then)); got != want {
		t.Errorf("%d bytes, expected %d: …%s", len(got), len(want), got[len(got)-60:])
	}
	same := strings.Repeat("a", 60)
	for _, c := range [][3]string{{same + "ü", same + "û", "<bdi>" + same + "<mark>ü</mark></bdi>"}, {same, same + same, "<bdi>" + same + "<mark></mark></bdi>"}, {"", "1", "absent"}, {"1", "", "<bdi>1</bdi>"}} {
		if got := string(highlighted(c[0], c[1])); got != c[2] {
			t.Errorf("%s beside %s: %s", c[0], c[1], got)
		}
	}
}
