package countersign_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

// general is what Marshal must write, byte for byte.
func general(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func mustMarshalAlike(t testing.TB, v any) {
	t.Helper()
	got, err := countersign.Marshal(v)
	want, wantErr := general(v)
	if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%T\n%s %v\nencoding/json writes\n%s %v", v, got, err, want, wantErr)
	}
}

// vocabulary has a value of each type that is stored or answered whole.
var vocabulary = []any{
	countersign.Run{}, countersign.StepRun{}, countersign.Plan{}, countersign.AuditRecord{}, countersign.Approval{}, countersign.Model{}, countersign.AgentModel{},
	countersign.Project{}, countersign.Agent{}, countersign.Team{}, countersign.Token{}, countersign.Tenant{}, countersign.User{}, countersign.Webhook{},
	countersign.Simulation{}, countersign.Page[countersign.Run]{}, countersign.Error{}, countersign.AuditExportEnd{},
}

// reach adds the structs that a value of t may hold: one that encodes itself by Marshal
// says nothing about it.
func reach(t reflect.Type, all map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		reach(t.Elem(), all)
	case reflect.Struct:
		if all[t] {
			return
		}
		all[t] = true
		for f := range t.Fields() {
			if f.IsExported() {
				reach(f.Type, all)
			}
		}
	}
}

func TestRecordsAreWrittenAsEncodingJSONDoes(t *testing.T) {
	all := map[reflect.Type]bool{}
	for _, v := range vocabulary {
		reach(reflect.TypeOf(v), all)
	}
	for typ := range all {
		mustMarshalAlike(t, reflect.Zero(typ).Interface())
		for seed := range uint64(200) {
			v := reflect.New(typ)
			fill(rand.New(rand.NewPCG(seed, 0)), v.Elem(), 0)
			mustMarshalAlike(t, v.Interface())
			mustMarshalAlike(t, v.Elem().Interface())
		}
	}
}

// texts are strings with what JSON treats apart.
var texts = []string{"", "plain", "a\"b\\c/d", "\b\f\n\r\t\x00\x1f\x7f", "<&>", "é\u2027\u2028\u2029\u202a", "\xff\xc3", "a\ufffdb", "\U0001f600", "\xe2\x80", "a,b"}

// fill makes v any value of its type, of bounded depth. Some of each are left zero.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if r.IntN(5) == 0 {
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(4e9), r.Int64N(2)*r.Int64N(1e9)).In(time.FixedZone("", 60*r.IntN(3)))))
		return
	case json.Number:
		numbers := []json.Number{"", "1.50", "-0", "1e400", "no number"}
		v.Set(reflect.ValueOf(numbers[r.IntN(len(numbers))]))
		return
	case countersign.Value:
		raw := []string{"null", "1.50", `"\u2028<é"`, `{"b": [1,2.50,"<"], "a":{}}`, "[]"}
		v.Set(reflect.ValueOf(countersign.RawValue(raw[r.IntN(len(raw))])))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))] + texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() - r.Int64())
	case reflect.Float64:
		v.SetFloat(r.NormFloat64() * 1e22)
	case reflect.Pointer:
		if depth < 6 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		fillMap(r, v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && depth < 8 {
				fill(r, v.Field(i), depth+1)
			}
		}
	}
}

func fillMap(r *rand.Rand, v reflect.Value, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	for range r.IntN(12) {
		key, of := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(r, key, depth+1)
		fill(r, of, depth+1)
		v.SetMapIndex(key, of)
	}
}

type (
	inner struct {
		Shared string `json:"shared"`
		Own    int    `json:"own,omitempty"`
		Twice  string
	}
	Other struct {
		Twice string
		Named string `json:"tagged"`
		Late  string
	}
	Tagged struct {
		Late  string `json:"Late"`
		Again *Tagged
	}
	outer struct {
		inner
		Other
		Tagged
		Shared  *struct{} `json:"shared,omitempty"`
		Skipped string    `json:"-"`
		hidden  string
		Any     any                          `json:"any"`
		Bytes   []byte                       `json:"bytes"`
		Ratio   float64                      `json:"ratio"`
		Count   uint8                        `json:"count,omitempty"`
		Pair    [2]int                       `json:"pair"`
		Numbers map[int]string               `json:"numbers"`
		Moment  *time.Time                   `json:"moment,omitzero"`
		Zero    time.Time                    `json:"zero,omitzero"`
		Empty   struct{}                     `json:"empty,omitempty"`
		Texts   map[string][]string          `json:"texts,omitempty"`
		Raw     json.RawMessage              `json:"raw"`
		Digest  countersign.StepDigest       `json:"digest,omitzero"`
		Values  map[string]countersign.Value `json:"values"`
		Cause   json.Marshaler               `json:"cause"`
	}
	quoted struct {
		N int `json:",string"`
	}
	pointed struct{ *Other }
)

func TestOddTypesAreWrittenAsEncodingJSONDoes(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	all := []any{
		nil, true, int8(-3), uint64(1 << 63), 1e21, "text", []any{}, []any(nil), map[string]any{"b": nil, "a": []int{1}}, struct{}{}, &struct{}{}, (*outer)(nil),
		outer{hidden: "x"}, pointed{}, pointed{&Other{Twice: "t"}}, quoted{5}, [0]int{}, make(chan int), func() {}, now, &now, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		outer{
			inner: inner{Shared: "hidden by outer", Own: 1, Twice: "1"}, Other: Other{Twice: "2", Named: "n", Late: "untagged"}, Tagged: Tagged{Late: "tagged", Again: &Tagged{}},
			Shared: &struct{}{}, Skipped: "s", Any: map[string]any{"t": now}, Bytes: []byte("\xffb"), Ratio: 1.5, Count: 2, Numbers: map[int]string{10: "a", 9: "b"},
			Moment: &now, Zero: now, Texts: map[string][]string{"b": nil, "a": {"x"}, "": {}}, Raw: json.RawMessage(` { "a" : [ 1 ] } `), Digest: "d",
			Values: map[string]countersign.Value{"z": {}, "a": countersign.Int(1)}, Cause: countersign.String("c"),
		},
	}
	for _, v := range all {
		mustMarshalAlike(t, v)
		mustMarshalAlike(t, []any{v})
		mustMarshalAlike(t, &v)
	}
}

type refusing struct{}

var errRefusing = errors.New("refused")

func (refusing) MarshalJSON() ([]byte, error) { return nil, errRefusing }

func TestAnErrorOfATypeIsReturned(t *testing.T) {
	if doc, err := countersign.Marshal(map[string]any{"a": []any{refusing{}}}); doc != nil || !errors.Is(err, errRefusing) {
		t.Errorf("%s, %v", doc, err)
	}
}

func FuzzTextIsWrittenAsEncodingJSONDoes(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { mustMarshalAlike(t, map[string]string{text: text}) })
}

func BenchmarkMarshalStep(b *testing.B) {
	step := countersign.StepRun{
		ID: "step-1", Name: "Order the part", ProjectID: "proj-shop", Capability: "order", DependsOn: []string{}, Status: countersign.StepCompleted, Attempt: 1, SideEffect: true,
		Input:          map[string]countersign.Value{"amount": countersign.Int(5), "currency": countersign.String("EUR"), "customer": countersign.String("c-17")},
		IdempotencyKey: "run-0123456789abcdef/step-1", RequestDigest: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
		Request:  &countersign.Request{Method: "POST", URL: "https://shop.example/orders", Query: countersign.RawValue(`{}`), Body: countersign.RawValue(`{"amount":5,"currency":"EUR","customer":"c-17"}`)},
		Response: &countersign.Response{StatusCode: 200, Bytes: 27, DurationMs: 3, BodySHA256: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"},
		Output:   countersign.RawValue(`"ord-1"`), Verification: &countersign.Verification{Status: "PASSED", Field: "status", Expected: countersign.String("ok"), Actual: countersign.String("ok"), StatusCode: 200},
		StartedAt: time.Unix(1.7e9, 123456000), CompletedAt: time.Unix(1.7e9, 223456000),
	}
	for name, marshal := range map[string]func(any) ([]byte, error){"ours": countersign.Marshal, "general": general} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := marshal(&step); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMarshalText: a request's body as a value's text.
func BenchmarkMarshalText(b *testing.B) {
	text := strings.Repeat("canonical workload body of letters, digits 0123456789 and dots. ", 3)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := countersign.Marshal(text); err != nil {
			b.Fatal(err)
		}
	}
}
