package request

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestADescriptionLeavesNothingOut: each field of a request is in it, a field of tomorrow too.
func TestADescriptionLeavesNothingOut(t *testing.T) {
	of := reflect.TypeFor[countersign.Request]()
	for i := range of.NumField() {
		r := countersign.Request{Query: countersign.RawValue("{}"), Body: countersign.Null}
		field := reflect.ValueOf(&r).Elem().Field(i)
		switch field.Interface().(type) {
		case string:
			field.SetString("marked")
		case countersign.Value:
			field.Set(reflect.ValueOf(countersign.RawValue(`{"marked":1}`)))
		default:
			t.Fatalf("%s is of a type that this test can't set; teach it", of.Field(i).Name)
		}
		d := Describe(r)
		text := d.Method + d.URL + d.Query.Raw() + d.Body.Raw()
		for _, m := range d.Others {
			text += m.Value.Raw()
		}
		if strings.Count(text, "marked") != 1 {
			t.Errorf("%s: %+v", of.Field(i).Name, d)
		}
	}
	type later struct {
		countersign.Request
		Trailers countersign.Value `json:"trailers,omitzero"`
		Retries  int               `json:"retries"`
		Sealed   bool              `json:"sealed"`
	}
	got := Unlisted(later{countersign.Request{Method: "GET"}, countersign.RawValue(`{"a":1}`), 3, false}, "method", "url", "query", "body")
	if want := []Member{{"trailers", countersign.RawValue(`{"a":1}`)}, {"retries", countersign.Int(3)}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestTheDigestCoversEachPartOfARequest but the query's fields, which the URL carries.
func TestTheDigestCoversEachPartOfARequest(t *testing.T) {
	of := reflect.TypeFor[countersign.Request]()
	for i := range of.NumField() {
		var was, now countersign.Request
		was.Query, now.Query = countersign.RawValue("{}"), countersign.RawValue("{}")
		field := reflect.ValueOf(&now).Elem().Field(i)
		if field.Kind() == reflect.String {
			field.SetString("marked")
		} else {
			field.Set(reflect.ValueOf(countersign.RawValue(`{"marked":1}`)))
		}
		covered := Digest(was, "shop", 1, "refund") != Digest(now, "shop", 1, "refund")
		if name := of.Field(i).Name; covered == (name == "Query") {
			t.Errorf("%s: covered %v", name, covered)
		}
	}
}

func TestAMemberReadsLineByLine(t *testing.T) {
	for value, want := range map[string][][2]string{
		`{"X-B":"2","X-A":"1, 2"}`: {{"header X-B", "2"}, {"header X-A", "1, 2"}},
		`{"a":{"b":[1.0]}}`:        {{"header a", `{"b":[1.0]}`}},
		`"text"`:                   {{"headers", "text"}},
		`[1]`:                      {{"headers", "[1]"}},
	} {
		if got := (Member{"headers", countersign.RawValue(value)}).Lines(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", value, got)
		}
	}
}
