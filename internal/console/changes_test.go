package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
		got := alteredFrom(posts(c.then), posts(c.now))
		if !slices.Equal(got.Fields, c.want) || !slices.Equal(got.Same, c.same) || !slices.Equal(got.Hidden, c.hidden) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAnotherDestinationOrQueryIsAChange(t *testing.T) {
	then := countersign.Request{Method: "GET", URL: "https://a.example/x?q=1", Query: countersign.RawValue(`{"q":1}`), Body: countersign.Null}
	now := countersign.Request{Method: "DELETE", URL: "https://b.example/x?q=2", Query: countersign.RawValue(`{"q":2}`), Body: countersign.Null}
	want := []alteration{{"destination", "GET https://a.example/x", "DELETE https://b.example/x"}, {"query.q", "1", "2"}}
	if got := alteredFrom(then, now); !slices.Equal(got.Fields, want) {
		t.Errorf("%+v", got)
	}
}

func TestAComparisonIsBoundedAndStillShowsWhereValuesDiffer(t *testing.T) {
	var then, now strings.Builder
	for i := range 500 {
		fmt.Fprintf(&then, `,"k%03d":%d`, i, i)
		fmt.Fprintf(&now, `,"k%03d":%d`, i, i+1)
	}
	got := alteredFrom(posts("{"+then.String()[1:]+"}"), posts("{"+now.String()[1:]+"}"))
	if len(got.Fields) != changesShown || got.More != 500-changesShown {
		t.Errorf("%d fields and %d more", len(got.Fields), got.More)
	}
	long := strings.Repeat("ü", 5000)
	fields := alteredFrom(posts(`{"a":"`+long+`1`+long+`"}`), posts(`{"a":"`+long+`2`+long+`"}`)).Fields
	f := fields[0]
	if len(fields) != 1 || len(f.Then) > 2*changesWidth || !strings.Contains(f.Then, "1") || !strings.Contains(f.Now, "2") || !utf8.ValidString(f.Then+f.Now) {
		t.Errorf("%+v", fields)
	}
}
