package drawn

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/countersign/countersign"
)

// An empty object that comes or goes changes the bytes, and so does a name with a dot.
func TestAnEmptyObjectThatComesOrGoesIsAChange(t *testing.T) {
	for name, c := range map[string]struct {
		then, now string
		want      []alteration
		same      []string
	}{
		"with one in it":         {`{"a":"x"}`, `{"a":"x","b":{"force":{}}}`, []alteration{{"b", "", `{"force":{}}`}}, []string{"destination", "a"}},
		"added":                  {`{}`, `{"b":{}}`, []alteration{{"b", "", `{}`}}, []string{"destination"}},
		"removed":                {`{"b":{}}`, `{}`, []alteration{{"b", `{}`, ""}}, []string{"destination"}},
		"added deeper":           {`{"b":{"q":1}}`, `{"b":{"q":1,"all":{"deep":{}}}}`, []alteration{{"b.all", "", `{"deep":{}}`}}, []string{"destination", "b.q"}},
		"emptied":                {`{"b":{"q":1}}`, `{"b":{}}`, []alteration{{"b.q", "1", ""}}, []string{"destination"}},
		"gone with its member":   {`{"b":{"q":1}}`, `{}`, []alteration{{"b", `{"q":1}`, ""}}, []string{"destination"}},
		"kept":                   {`{"b":{}}`, `{"b":{}}`, nil, []string{"destination", "b"}},
		"as a body":              {`null`, `{}`, []alteration{{"body", "", `{}`}}, []string{"destination"}},
		"a name with a dot":      {`{"b":{"a.c":1}}`, `{"b":{"a.c":1,"a":{"c":999}}}`, []alteration{{"b.a", "", `{"c":999}`}}, []string{"destination", `b."a.c"`}},
		"a name of a part":       {`{"query":{"q":1},"body":1}`, `{"query":{"q":2},"body":1}`, []alteration{{`"query".q`, "1", "2"}}, []string{"destination", `"body"`}},
		"digits in a list":       {`{"l":[89.90]}`, `{"l":[89.9]}`, []alteration{{"l", "[89.90]", "[89.9]"}}, []string{"destination"}},
		"what says it is hidden": {`{"a":1}`, `{"a":"•••"}`, []alteration{{"a", "1", `"•••"`}}, []string{"destination"}},
	} {
		got := AlteredFrom(posts(c.then), posts(c.now))
		if !slices.Equal(got.Fields, c.want) || !slices.Equal(got.Same, c.same) || got.Hidden != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Values in another order are the same ones in other bytes, which is said.
func TestOtherBytesOfTheSameValuesAreSaid(t *testing.T) {
	for _, c := range [][2]string{{`{"a":1,"b":2}`, `{"b":2,"a":1}`}, {`{"l":[{"a":1,"b":2}]}`, `{"l":[{"b":2,"a":1}]}`}, {`{"a":1}`, `{"\u0061":1}`}} {
		if got := AlteredFrom(posts(c[0]), posts(c[1])); got.Fields != nil || !slices.Equal(got.Bytes, []string{"body"}) {
			t.Errorf("%s and %s: %+v", c[0], c[1], got)
		}
	}
	then := countersign.Request{Method: "GET", URL: "https://a.example/x?q=1&r=2", Query: countersign.RawValue(`{"q":1,"r":2}`), Body: countersign.Null}
	now := then
	now.URL, now.Query = "https://a.example/x?r=2&q=1", countersign.RawValue(`{"r":2,"q":1}`)
	if got := AlteredFrom(then, now); got.Fields != nil || !slices.Equal(got.Bytes, []string{"query"}) {
		t.Errorf("%+v", got)
	}
	if got := AlteredFrom(then, then); got.Bytes != nil {
		t.Errorf("%+v", got)
	}
}

// TestTheChangesLeadFromOneBodyToTheOther: the list is empty exactly where two bodies are
// the same values, and whoever applies it to the one has the other.
func TestTheChangesLeadFromOneBodyToTheOther(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		then, now := body(r, 3), body(r, 3)
		if r.IntN(2) == 0 {
			now = varied(r, then)
		}
		got := AlteredFrom(posts(then.Raw()), posts(now.Raw()))
		if len(got.Fields) == 0 != alike(then, now) || len(got.Fields) == 0 && !then.Equal(now) {
			t.Fatalf("%s to %s: %+v", then.Raw(), now.Raw(), got.Fields)
		}
		if said := got.Bytes != nil; said != (then.Raw() != now.Raw() && alike(then, now)) {
			t.Fatalf("%s to %s: said of bytes: %v", then.Raw(), now.Raw(), said)
		}
		applied := then
		for _, f := range got.Fields {
			if slices.Contains(got.Same, f.Field) {
				t.Fatalf("%s to %s: %s is named as changed and as unchanged", then.Raw(), now.Raw(), f.Field)
			}
			path := segments(f.Field)
			applied = with(t, applied, path, f)
		}
		if !alike(applied, now) && (!applied.IsZero() || !now.IsNull()) {
			t.Fatalf("%s to %s: %+v leads to %s", then.Raw(), now.Raw(), got.Fields, applied.Raw())
		}
	}
}

var drawnNames = []string{"a", "b", "a.b", "", "query", "body", "destination", `a"b`, `a\u0062`, "x y", "\u202e", "b, a"}

func body(r *rand.Rand, depth int) countersign.Value {
	n := r.IntN(12)
	switch {
	case n < 6 && depth > 0:
		m := map[string]countersign.Value{}
		for range r.IntN(4) {
			m[drawnNames[r.IntN(len(drawnNames))]] = body(r, depth-1)
		}
		return reordered(r, m)
	case n == 6 && depth > 0:
		var list []countersign.Value
		for range r.IntN(3) {
			list = append(list, body(r, depth-1))
		}
		return countersign.ArrayValue(list)
	}
	scalars := []string{"null", "true", "1", "1.0", "10e-1", `""`, `"a"`, `"1"`, `"•••"`, "9007199254740993"}
	return countersign.RawValue(scalars[r.IntN(len(scalars))])
}

// reordered writes members in any order.
func reordered(r *rand.Rand, m map[string]countersign.Value) countersign.Value {
	var members []string
	for name, v := range m {
		members = append(members, countersign.String(name).Raw()+":"+v.Raw())
	}
	slices.Sort(members)
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return countersign.RawValue("{" + strings.Join(members, ",") + "}")
}

// varied is a body with a little of it changed, or its members in another order.
func varied(r *rand.Rand, v countersign.Value) countersign.Value {
	m, ok := v.Object()
	if !ok {
		return v
	}
	for name := range m {
		switch r.IntN(6) {
		case 0:
			delete(m, name)
		case 1:
			m[name] = body(r, 1)
		case 2:
			m[name] = varied(r, m[name])
		}
	}
	if r.IntN(4) == 0 {
		m[drawnNames[r.IntN(len(drawnNames))]] = body(r, 2)
	}
	return reordered(r, m)
}

// segments reads a name of a field back: words, and quoted texts, between dots. The name
// of the body itself has none.
func segments(field string) (path []string) {
	if field == "body" {
		return nil
	}
	for rest := field; ; rest = rest[1:] {
		var name string
		if strings.HasPrefix(rest, `"`) {
			d := json.NewDecoder(strings.NewReader(rest))
			if d.Decode(&name) != nil {
				return []string{"?" + field}
			}
			rest = rest[d.InputOffset():]
		} else {
			end := strings.IndexFunc(rest, func(r rune) bool { return r == '.' || unicode.IsSpace(r) || r == '"' })
			if end < 0 {
				end = len(rest)
			}
			name, rest = rest[:end], rest[end:]
		}
		path = append(path, name)
		if rest == "" {
			return path
		}
	}
}

// with sets or removes one field, which must be as the change says that it was.
func with(t *testing.T, v countersign.Value, path []string, f alteration) countersign.Value {
	t.Helper()
	if len(path) == 0 {
		if v.Raw() != f.Then && (!v.IsNull() || f.Then != "") {
			t.Fatalf("%+v, but it was %s", f, v.Raw())
		}
		return countersign.RawValue(f.Now)
	}
	m, ok := v.Object()
	if !ok {
		t.Fatalf("%+v leads through %s", f, v.Raw())
	}
	if now := with(t, m[path[0]], path[1:], f); now.IsZero() {
		delete(m, path[0])
	} else {
		m[path[0]] = now
	}
	return countersign.ObjectValue(m)
}
