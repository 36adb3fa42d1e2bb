package exactjson

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign"
)

// addCorpus seeds a fuzz target with JSONTestSuite, less its largest files.
func addCorpus(f *testing.F) {
	for _, dir := range []string{"test_parsing", "test_transform"} {
		for _, name := range corpusNames(f, dir) {
			if data := corpusFile(f, dir, name); len(data) < 4096 {
				f.Add(data)
			}
		}
	}
}

// FuzzCheck compares Check with encoding/json and a second, deliberately simple
// reading of what we refuse beyond it.
func FuzzCheck(f *testing.F) {
	addCorpus(f)
	for _, s := range []string{`{"a":1,"\u0061":2}`, `{"a":{"b":[1,{"b":1}]},"b":0}`, `[1e0000000000000001,1e1234567890]`, `"\\ud800\ud834\udd1e"`,
		`{"0":0,"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"\u0030":0}`, strings.Repeat("[", 65) + strings.Repeat("]", 65)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := json.Valid(data) && utf8.Valid(data) && !loneSurrogate(data) && plainlyAccepted(data)
		if err := Check(data); (err == nil) != want {
			t.Errorf("accepted: %v, want %v (%v)", err == nil, want, err)
		}
	})
}

var escapeSequence = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|.)`)

// loneSurrogate looks at the escapes of valid JSON, one after the other.
func loneSurrogate(data []byte) bool {
	high := -1 // where a pair's first half ended
	for _, at := range escapeSequence.FindAllIndex(data, -1) {
		unit := uint64(0)
		if data[at[0]+1] == 'u' {
			unit, _ = strconv.ParseUint(string(data[at[0]+2:at[1]]), 16, 32)
		}
		first, second := unit >= 0xd800 && unit < 0xdc00, unit >= 0xdc00 && unit < 0xe000
		if second != (high == at[0]) || !second && high >= 0 {
			return true
		}
		if high = -1; first {
			high = at[1]
		}
	}
	return high >= 0
}

var longExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{9}`)

// plainlyAccepted walks the tokens of valid JSON: depth, keys and exponents.
func plainlyAccepted(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var keys []map[string]bool // of the open objects; nil for an array
	isKey := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return true
		}
		switch tok := token.(type) {
		case json.Delim:
			switch tok {
			case '{':
				keys = append(keys, map[string]bool{})
			case '[':
				keys = append(keys, nil)
			default:
				keys = keys[:len(keys)-1]
			}
			isKey = len(keys) > 0 && keys[len(keys)-1] != nil
			if len(keys) > countersign.MaxJSONDepth {
				return false
			}
			continue
		case json.Number:
			if longExponent.MatchString(string(tok)) {
				return false
			}
		case string:
			if isKey {
				if keys[len(keys)-1][tok] {
					return false
				}
				keys[len(keys)-1][tok] = true
				isKey = false
				continue
			}
		}
		isKey = len(keys) > 0 && keys[len(keys)-1] != nil
	}
}

// FuzzDecode decodes anything into bodies of the API. What is accepted must
// survive: it is written as JSON that decodes to the same again, and a model or
// a value is written as it was read.
func FuzzDecode(f *testing.F) {
	addCorpus(f)
	f.Add([]byte(model))
	f.Add([]byte(`{"document":` + model + `,"expectedRevision":1}`))
	for _, s := range []string{
		`{"kind":"group","combinator":"AND","conditions":[{"kind":"predicate","variableId":"v","operator":"eq","value":null}]}`,
		`{"name":"n","modelId":"m","modelRevision":1,"mode":"LIVE","steps":[{"id":"s","name":"n","projectId":"p","capability":"c","input":{"a":1.0},"dependsOn":[],"inputBindings":{"x":{"stepId":"s","field":"f"}},"expectation":{"field":"f","equals":null,"statusCode":200}}]}`,
		`{"name":"n","adapter":"HTTP_JSON","capabilities":[{"name":"c","method":"GET","path":"/","sideEffect":false,"timeoutMs":1e2,"inputSchema":{"a":{"type":"string","required":true}},"request":{"query":[]}}],"auth":{"type":"NONE"},"enabled":true}`,
		`{"name":"n","roles":["ADMIN"],"expiresInDays":1,"modes":["LIVE"]}`,
		`{"text":"t","number":1.50,"at":"2026-01-31T09:30:00.5+01:00","scalar":null,"any":[{"a":null}],"nested":{"many":[{}]},"map":{"":1},"values":{"a":{"b":1}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		survives[countersign.ModelWrite](t, data)
		survives[countersign.PlanWrite](t, data)
		survives[countersign.ProjectWrite](t, data)
		survives[countersign.TokenWrite](t, data)
		survives[everything](t, data)
		survives[condition](t, data)
		writtenAsRead[countersign.AgentModel](t, data)
		writtenAsRead[countersign.Value](t, data)
		writtenAsRead[countersign.Scalar](t, data)
		writtenAsRead[condition](t, data)
	})
}

// survives asserts that what is accepted decodes to the same after it was
// written. Fields left out because they are empty may go.
func survives[T any](t *testing.T, data []byte) {
	t.Helper()
	var v, w T
	if Decode(data, &v) != nil {
		return
	}
	text := written(t, v)
	if err := Decode(text, &w); err != nil {
		t.Fatalf("%T: written as %s: %v", v, text, err)
	}
	if again := written(t, w); !bytes.Equal(text, again) {
		t.Errorf("%T: written as %s, then as %s", v, text, again)
	}
}

// writtenAsRead asserts that what is accepted is written as an equal value.
func writtenAsRead[T any](t *testing.T, data []byte) {
	t.Helper()
	var v T
	if Decode(data, &v) != nil {
		return
	}
	text := written(t, v)
	if !countersign.RawValue(string(text)).Equal(countersign.RawValue(string(data))) {
		t.Errorf("%T: %s is written as %s", v, data, text)
	}
}

func written(t *testing.T, v any) []byte {
	t.Helper()
	text, err := countersign.Marshal(v)
	if err != nil {
		t.Fatalf("%s: %v", reflect.TypeOf(v), err)
	}
	return text
}
