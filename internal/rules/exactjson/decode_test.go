package exactjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

// decoded reads text into a fresh T, which must succeed.
func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := Decode([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// misfit asserts the whole message of decoding text into a T.
func misfit[T any](t *testing.T, text string, code countersign.Code, problems ...string) {
	t.Helper()
	var v, untouched T
	err := Decode([]byte(text), &v)
	want := string(code) + ": " + strings.Join(problems, "; ")
	if err == nil || err.Error() != want {
		t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
	}
	if !reflect.DeepEqual(v, untouched) {
		t.Errorf("%s: the value was changed to %+v", text, v)
	}
}

const (
	invalidRequest = countersign.CodeInvalidRequest
	invalidJSON    = countersign.CodeInvalidJSON
)

// everything has a field of each kind that Decode knows.
type everything struct {
	Text    string                       `json:"text,omitempty"`
	Status  countersign.RunStatus        `json:"status,omitempty" enum:"READY,RUNNING"`
	Whole   int64                        `json:"whole,omitempty"`
	Small   int8                         `json:"small,omitempty"`
	Flag    bool                         `json:"flag,omitempty"`
	Maybe   *bool                        `json:"maybe,omitempty"`
	Number  json.Number                  `json:"number,omitempty"`
	At      time.Time                    `json:"at,omitzero"`
	Any     countersign.Value            `json:"any,omitzero"`
	Scalar  countersign.Scalar           `json:"scalar,omitzero"`
	List    []string                     `json:"list,omitempty"`
	Map     map[string]int64             `json:"map,omitempty"`
	Values  map[string]countersign.Value `json:"values,omitempty"`
	Nested  *everything                  `json:"nested,omitempty"`
	Many    []everything                 `json:"many,omitempty"`
	Ignored string                       `json:"-"`
	hidden  string
}

func TestEveryTypeIsRead(t *testing.T) {
	got := decoded[everything](t, ` {
		"text": "a\u00e9\ud834\udd1e\n\/", "status": "RUNNING", "whole": -7, "small": 127, "flag": true, "maybe": false,
		"number": -1.50e+3, "at": "2026-01-31T09:30:00.5+01:00", "any": { "b" : [1.0, null] }, "scalar": null,
		"list": ["x", ""], "map": {"a": 1, "": 2}, "values": {"n": null}, "nested": {"flag": true}, "many": [{}, {"text": "y"}]
	} `)
	no := false
	at := time.Date(2026, 1, 31, 8, 30, 0, 5e8, time.UTC)
	if !got.At.Equal(at) {
		t.Errorf("at is %v", got.At)
	}
	got.At = time.Time{}
	want := everything{
		Text: "aé𝄞\n/", Status: countersign.RunRunning, Whole: -7, Small: 127, Flag: true, Maybe: &no,
		Number: "-1.50e+3", Any: countersign.RawValue(`{"b":[1.0,null]}`), Scalar: countersign.Scalar{Value: countersign.Null},
		List: []string{"x", ""}, Map: map[string]int64{"a": 1, "": 2},
		Values: map[string]countersign.Value{"n": countersign.Null}, Nested: &everything{Flag: true}, Many: []everything{{}, {Text: "y"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestTextThatCheckRefusesIsInvalidJSON(t *testing.T) {
	misfit[everything](t, `{"flag":true,"flag":true}`, invalidJSON,
		`the key "flag" stands a second time in its object at byte 13; keep one of the two`)
	misfit[everything](t, ``, invalidJSON, "there is no JSON value: the text ends at byte 0; expected one")
}

func TestStructNeedsAnObject(t *testing.T) {
	for text, kind := range map[string]string{`null`: "null", `[]`: "an array", `1`: "a number", `"x"`: "a string", `false`: "a boolean"} {
		misfit[everything](t, text, invalidRequest, "must be an object, not "+kind)
	}
}

func TestWrongTypeIsRefusedInWords(t *testing.T) {
	for text, want := range map[string]string{
		`{"text":1}`:             "text: must be a string, not a number",
		`{"status":1}`:           "status: must be one of READY, RUNNING, not a number",
		`{"whole":"1"}`:          "whole: must be a whole number, not a string",
		`{"flag":"true"}`:        "flag: must be true or false, not a string",
		`{"maybe":0}`:            "maybe: must be true or false, not a number",
		`{"number":"1"}`:         "number: must be a number, not a string",
		`{"at":1}`:               "at: must be a time with its zone, such as 2026-11-21T09:17:47Z, not a number",
		`{"at":"31.1.2026"}`:     "at: must be a time with its zone, such as 2026-11-21T09:17:47Z",
		`{"scalar":{}}`:          "scalar: must be a string, number, boolean or null, not an object",
		`{"list":{}}`:            "list: must be an array, not an object",
		`{"list":["x",null]}`:    "list[1]: must be a string, not null",
		`{"map":[]}`:             "map: must be an object, not an array",
		`{"map":{"a b":true}}`:   `map["a b"]: must be a whole number, not a boolean`,
		`{"map":{"k-1":true}}`:   `map["k-1"]: must be a whole number, not a boolean`,
		`{"map":{"":true}}`:      `map[""]: must be a whole number, not a boolean`,
		`{"map":{"1a":true}}`:    `map["1a"]: must be a whole number, not a boolean`,
		`{"map":{"a":null}}`:     `map.a: must be a whole number, not null`,
		`{"nested":{"flag":[]}}`: "nested.flag: must be true or false, not an array",
		`{"many":[{},[]]}`:       "many[1]: must be an object, not an array",
	} {
		misfit[everything](t, text, invalidRequest, want)
	}
}

func TestEveryProblemIsNamedInDocumentOrder(t *testing.T) {
	misfit[countersign.PlanWrite](t, `{"mode":"live","steps":[{"name":1,"id":"a b","expectation":{"field":""}},7],"modelRevision":1.5,"nam":"x"}`, invalidRequest,
		"mode: must be one of DRY_RUN, LIVE",
		"steps[0].name: must be a string, not a number",
		"steps[0].id: must match ^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
		"steps[0].expectation.field: must not be empty",
		"steps[0].expectation.equals: is missing; it must be any JSON value",
		"steps[0].projectId: is missing; it must be a string",
		"steps[0].capability: is missing; it must be a string",
		"steps[1]: must be an object, not a number",
		"modelRevision: must be a whole number, without a fraction",
		"nam: unknown field; did you mean name? Known fields are id, name, modelId, modelRevision, steps, scenarioId, planningInputs, mode",
		"name: is missing; it must be a string",
		"modelId: is missing; it must be a string",
	)
}

func TestProblemsBeyondAHundredAreCounted(t *testing.T) {
	text := `{"list":[` + strings.Repeat("1,", 249) + `1]}`
	err := Decode([]byte(text), &everything{})
	if err == nil || !strings.HasSuffix(err.Error(), "list[99]: must be a string, not a number; and 150 more") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownFieldIsRefused(t *testing.T) {
	misfit[countersign.Reason](t, `{"reason":"x","cause":"y"}`, invalidRequest, "cause: unknown field; known fields are reason")
	misfit[countersign.Reason](t, `{"reasn":"x"}`, invalidRequest,
		"reasn: unknown field; did you mean reason? Known fields are reason", "reason: is missing; it must be a string")
	misfit[struct{}](t, `{"a":1}`, invalidRequest, "a: unknown field; there are no fields here")
}

func TestUnexportedAndSkippedFieldsAreUnknown(t *testing.T) {
	for _, name := range []string{"hidden", "Ignored", "-"} {
		v := everything{hidden: "kept"}
		if err := Decode([]byte(`{"`+name+`":"x"}`), &v); countersign.ErrorCode(err) != invalidRequest || v.hidden != "kept" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeyInOtherCaseIsInvalidJSON(t *testing.T) {
	misfit[countersign.Reason](t, `{"Reason":"x"}`, invalidJSON, "Reason: must be spelt reason: upper and lower case differ")
	misfit[countersign.Reason](t, `{"reason":"x","REASON":"y","z":1}`, invalidJSON,
		"REASON: must be spelt reason: upper and lower case differ", "z: unknown field; known fields are reason")
	misfit[countersign.PlanWrite](t, `{"name":"n","modelId":"m","modelRevision":1,"steps":[{"ID":"s","name":"n","projectId":"p","capability":"c"}]}`, invalidJSON,
		"steps[0].ID: must be spelt id: upper and lower case differ")
}

func TestKeysOfMapsAreTheCallers(t *testing.T) {
	got := decoded[everything](t, `{"map":{"A":1,"a":2,"\u0062":3}}`)
	if want := map[string]int64{"A": 1, "a": 2, "b": 3}; !reflect.DeepEqual(got.Map, want) {
		t.Errorf("got %v", got.Map)
	}
}

func TestFieldIsFoundThroughEscapes(t *testing.T) {
	if got := decoded[countersign.Reason](t, `{"re\u0061son":"x"}`); got.Reason != "x" {
		t.Errorf("got %+v", got)
	}
}

func TestRequiredFieldMayNotBeMissing(t *testing.T) {
	misfit[countersign.Decision](t, `{}`, invalidRequest,
		"decision: is missing; it must be one of APPROVED, REJECTED", "reason: is missing; it must be a string")
	misfit[countersign.GroupWrite](t, `{"name":"n"}`, invalidRequest, "members: is missing; it must be an array")
	misfit[countersign.Toggle](t, `{"expectedRevision":null}`, invalidRequest,
		"expectedRevision: must be a whole number of at least 1, not null")
	decoded[countersign.TokenWrite](t, `{"name":"n","roles":["ADMIN"]}`)
}

func TestNullIsKeptApartFromAbsent(t *testing.T) {
	absent := decoded[countersign.Predicate](t, `{"kind":"predicate","variableId":"v","operator":"eq"}`)
	null := decoded[countersign.Predicate](t, `{"kind":"predicate","variableId":"v","operator":"eq","value":null}`)
	if !absent.Value.IsZero() || null.Value.IsZero() || !null.Value.IsNull() {
		t.Errorf("absent %+v, null %+v", absent, null)
	}
	e := decoded[countersign.Expectation](t, `{"field":"x","equals":null}`)
	if !e.Equals.IsNull() {
		t.Errorf("got %+v", e)
	}
}

func TestEmptyIsKeptApartFromAbsent(t *testing.T) {
	got := decoded[countersign.RequestMapping](t, `{"query":[]}`)
	if got.Query == nil || len(got.Query) != 0 || got.Body != nil {
		t.Errorf("got %#v", got)
	}
	if r := decoded[countersign.Reconcile](t, `{"resolution":"ABANDON","evidence":"e","output":{}}`); r.Output == nil {
		t.Errorf("got %#v", r)
	}
}

func TestIntegerIsTakenByExactValue(t *testing.T) {
	type number struct {
		N int64 `json:"n"`
	}
	for text, want := range map[string]int64{
		"1": 1, "1.0": 1, "1e0": 1, "10e-1": 1, "0.1E+1": 1, "-0": 0, "-0.0e9": 0, "9.007199254740993e15": 9007199254740993,
		"9007199254740993": 9007199254740993, "9223372036854775807": 9223372036854775807, "-9223372036854775808": -9223372036854775808,
		"9223372036854775807.000": 9223372036854775807, "1e18": 1e18, "0e999999999": 0,
	} {
		if got := decoded[number](t, `{"n":`+text+`}`); got.N != want {
			t.Errorf("%s: got %d, want %d", text, got.N, want)
		}
	}
	for _, text := range []string{"9223372036854775808", "-9223372036854775809", "1e19", "1e999999999", "1" + strings.Repeat("0", 100)} {
		misfit[number](t, `{"n":`+text+`}`, invalidRequest, "n: must be a whole number that fits 64 bits")
	}
	for _, text := range []string{"1.5", "1e-1", "9223372036854775807.5", "1e-999999999"} {
		misfit[number](t, `{"n":`+text+`}`, invalidRequest, "n: must be a whole number, without a fraction")
	}
	misfit[everything](t, `{"small":128}`, invalidRequest, "small: must be a whole number that fits 8 bits")
}

func TestJSONNumberIsKeptDigitForDigit(t *testing.T) {
	for _, text := range []string{"1.0", "-0", "1E400", "0.1000000000000000055511151231257827", "9007199254740993"} {
		if got := decoded[everything](t, `{"number":`+text+`}`); string(got.Number) != text {
			t.Errorf("got %s, want %s", got.Number, text)
		}
	}
}

func TestValueIsKeptWithoutWhiteSpace(t *testing.T) {
	got := decoded[countersign.Value](t, "\n{ \"b\" : 1.0 ,\t\"a\" : \" x \\u00e9 \" }\n")
	if want := `{"b":1.0,"a":" x \u00e9 "}`; got.Raw() != want {
		t.Errorf("got %s, want %s", got.Raw(), want)
	}
}

func TestEmbeddedStructCountsAsPartOfTheOuter(t *testing.T) {
	type inner struct {
		A string `json:"a"`
		B string `json:"b"`
	}
	type Outer struct {
		inner
		B int64 `json:"b"`
	}
	if got := decoded[Outer](t, `{"a":"x","b":2}`); got.A != "x" || got.B != 2 || got.inner.B != "" {
		t.Errorf("got %+v", got)
	}
	misfit[Outer](t, `{"b":2}`, invalidRequest, "a: is missing; it must be a string")
}

func TestTargetIsReplacedNotMergedInto(t *testing.T) {
	v := everything{Text: "old", Map: map[string]int64{"old": 1}}
	if err := Decode([]byte(`{"map":{"new":2}}`), &v); err != nil {
		t.Fatal(err)
	}
	if v.Text != "" || len(v.Map) != 1 {
		t.Errorf("got %+v", v)
	}
}

func TestMistakesInTheProgramPanic(t *testing.T) {
	targets := map[string]any{
		"no pointer":   everything{},
		"nil":          nil,
		"nil pointer":  (*everything)(nil),
		"float":        &struct{ F float64 }{},
		"interface":    &struct{ F any }{},
		"integer keys": &map[int]string{},
		"unkept tag": &struct {
			F int `multipleOf:"2"`
		}{},
		"limit in words": &struct {
			F int `minimum:"one"`
		}{},
		"embedded pointer": &struct{ *countersign.Reason }{},
	}
	for name, into := range targets {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = Decode([]byte(`{}`), into)
		})
	}
}

func TestManyMayDecodeAtOnce(t *testing.T) {
	type fresh struct { // no plan of it is made yet
		Many []fresh             `json:"many,omitempty"`
		Both *countersign.Reason `json:"both,omitempty"`
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			var v fresh
			if err := Decode([]byte(`{"many":[{"both":{"reason":"x"}}]}`), &v); err != nil || v.Many[0].Both.Reason != "x" {
				t.Errorf("got %+v %v", v, err)
			}
		})
	}
	wait.Wait()
}

func TestMembersOfAMapShareNothing(t *testing.T) {
	got := decoded[map[string]countersign.ActionBinding](t, `{
		"a": {"projectId":"p","capability":"c","input":{"x":1},"expectation":{"field":"f","equals":1}},
		"b": {"projectId":"q","capability":"d"}}`)
	if b := got["b"]; b.Input != nil || b.Expectation != nil || b.ProjectID != "q" || got["a"].ProjectID != "p" {
		t.Errorf("got %+v", got)
	}
}

// limited has fields whose tag null says something of an explicit one.
type limited struct {
	Values  []string                       `json:"values" nullable:"false"`
	Least   countersign.Value              `json:"least,omitzero" null:"absent"`
	Within  []string                       `json:"within,omitempty" null:"refused"`
	Maps    map[string]*everything         `json:"maps,omitempty"`
	Several map[string][]countersign.Value `json:"several,omitempty"`
}

func TestNullOfAnOptionalFieldMeansThatItIsLeftOutAtAnyDepth(t *testing.T) {
	all := `"text":null,"status":null,"whole":null,"small":null,"flag":null,"maybe":null,"number":null,"at":null,"list":null,"map":null,"values":null,"nested":null,"many":null`
	for text, want := range map[string]everything{
		`{` + all + `}`:                         {},
		`{"nested":{` + all + `}}`:              {Nested: &everything{}},
		`{"many":[{"text":"a"},{` + all + `}]}`: {Many: []everything{{Text: "a"}, {}}},
		`{"any":null,"scalar":null,"values":{"n":null}}`: {
			Any: countersign.Null, Scalar: countersign.Scalar{Value: countersign.Null}, Values: map[string]countersign.Value{"n": countersign.Null},
		},
	} {
		if got := decoded[everything](t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
	}
	if got := decoded[limited](t, `{"values":[],"least":null,"several":{"x":[null]}}`); !got.Least.IsZero() || !got.Several["x"][0].IsNull() {
		t.Errorf("%+v", got)
	}
}

func TestNullIsNoLimitNoRequiredFieldNoElementAndNoMember(t *testing.T) {
	misfit[limited](t, `{"values":null}`, invalidRequest, "values: must be an array, not null")
	misfit[limited](t, `{"values":[null]}`, invalidRequest, "values[0]: must be a string, not null")
	misfit[limited](t, `{"values":[],"within":null}`, invalidRequest, "within: must be an array, not null; leave the field out for no limit")
	misfit[limited](t, `{"values":[],"maps":{"a":null}}`, invalidRequest, "maps.a: must be an object, not null")
	misfit[limited](t, `{"values":[],"several":{"a":null}}`, invalidRequest, "several.a: must be an array, not null")
}
