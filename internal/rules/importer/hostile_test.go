package importer

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/allocbudget"
)

// proposing makes a proposal with a budget of work, and keeps a summary or the error in
// words.
func proposing(data []byte, work int, words *string) func() {
	return func() {
		d, err := Read(data)
		if err == nil {
			d.budget = work
			var p *Proposal
			if p, err = d.Propose(Options{ProjectID: "acme-x", BaseURL: "https://x"}); err == nil {
				*words = fmt.Sprintf("%d proposed, %v", len(p.Proposed), p.Reasons)
			}
		}
		if err != nil {
			*words = err.Error()
		}
	}
}

// filled repeats the output of item between begin and end, up to a size.
func filled(begin, end string, size int, item func(i int) string) []byte {
	var b bytes.Buffer
	b.WriteString(begin)
	for i := 0; b.Len() < size-len(end)-200; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	b.WriteString(end)
	return b.Bytes()
}

const head = `{"openapi":"3.1.0","security":[{"b":[]}],"components":{"securitySchemes":{"b":{"type":"http","scheme":"bearer"}},`

func schemas(list ...string) string {
	return head + `"schemas":{` + strings.Join(list, ",") + `}},"paths":{`
}

// hostile returns documents of about n bytes that try to cost more than their length.
func hostile(n int) map[string][]byte {
	shared := func(i int) string { return fmt.Sprintf(`"/p%0100d":{"$ref":"#/x"}`, i) }
	long := `"` + strings.Repeat("n", n/2) + `"`
	return map[string][]byte{
		"deep":             []byte(strings.Repeat(`{"a":`, n/5)),
		"long name":        filled(head+`"x":0},"x":{"post":{"requestBody":{"content":{"application/json":{"schema":{"properties":{`+long+`:{"type":"string"}}}}}},`+ok+`}},"paths":{`, `}}`, n, shared),
		"long description": filled(head+`"x":0},"x":{"get":{"description":`+long+`,`+ok+`}},"paths":{`, `}}`, n, shared),
		"long operationId": filled(head+`"x":0},"x":{"get":{"operationId":`+long+`,`+ok+`}},"paths":{`, `}}`, n, shared),
		"long media type":  filled(head+`"x":0},"x":{"get":{"responses":{"200":{"content":{`+long+`:{}}}}}},"paths":{`, `}}`, n, shared),
		"long paths":       filled(schemas(), `}}`, n, func(i int) string { return fmt.Sprintf(`"/%s%d":{"get":{%s}}`, strings.Repeat("p", 200), i, ok) }),
		"many servers":     filled(head+`"x":0},"x":{"get":{`+ok+`},"servers":[`+strings.TrimSuffix(strings.Repeat(`{"url":"https://`+strings.Repeat("{a}", 600)+`"},`, n/3600), ",")+`]},"paths":{`, `}}`, 2*n, shared),
		"many operations":  filled(schemas(), `}}`, n, func(i int) string { return fmt.Sprintf(`"/%d":{"get":{}}`, i) }),
		"many lists":       filled(`{"openapi":"3.0.0","x":[`, `]}`, n, func(int) string { return `{"a":0}` }),
		"yaml depth":       []byte("openapi: " + strings.Repeat("[", min(n/4, 9000))),
		"yaml keys":        filled("openapi: 3.0.0\nx: {", "}\n", n, func(i int) string { return fmt.Sprintf("k%d: 0", i) }),
		"yaml list":        filled("openapi: 3.0.0\nx: [", "]\n", n, func(int) string { return "a" }),
		"yaml comments":    append([]byte("openapi: 3.0.0\n"), bytes.Repeat([]byte("# c\n\n"), n/5)...),
		"yaml anchors":     append([]byte("openapi: 3.0.0\n"), []byte(strings.Repeat("? &a\n", n/5))...),
	}
}

// TestHostileDocumentsCostWhatTheirLengthCosts: a document of four times the length costs
// four times the work.
func TestHostileDocumentsCostWhatTheirLengthCosts(t *testing.T) {
	n, work := 64<<10, maxWork
	if testing.Short() {
		n, work = n/8, work/32
	}
	for name := range hostile(n) {
		t.Run(name, func(t *testing.T) {
			var words string
			allocbudget.Proportional(t, n, func(n int) func() { return proposing(hostile(n)[name], work, &words) })
			t.Log(short(words, 100))
			if len(words) > 2000 {
				t.Errorf("the words are %d bytes long", len(words))
			}
		})
	}
}

// multiplying returns documents whose references multiply them without a bound.
func multiplying() map[string][]byte {
	const size = 256 << 10
	var fan []string
	for i := range 40 {
		ref := fmt.Sprintf(`{"$ref":"#/components/schemas/s%d"}`, i+1)
		fan = append(fan, fmt.Sprintf(`"s%d":{"allOf":[%s,%s,%s]}`, i, ref, ref, ref))
	}
	wide := string(filled(`"wide":{"properties":{`, `}}`, size/8, func(i int) string { return fmt.Sprintf(`"f%d":{"type":"string"}`, i) }))
	return map[string][]byte{
		"fan of schemas": []byte(schemas(fan...) + post(`{"$ref":"#/components/schemas/s0"}`) + `}}`),
		"shared wide": filled(schemas(wide), `}}`, size, func(i int) string {
			return strings.Replace(post(`{"$ref":"#/components/schemas/wide"}`), "/a", fmt.Sprint("/p", i), 1)
		}),
	}
}

// TestWhatReferencesMultiplyToCostsTheWorkThatIsLeft: the budget bounds them.
func TestWhatReferencesMultiplyToCostsTheWorkThatIsLeft(t *testing.T) {
	work := maxWork / 4
	if testing.Short() {
		work /= 16
	}
	for name, data := range multiplying() {
		t.Run(name, func(t *testing.T) {
			var words string
			allocbudget.Proportional(t, work, func(work int) func() { return proposing(data, work, &words) })
			if !strings.Contains(words, string(TooComplex)) && !strings.Contains(words, "none of its operations") {
				t.Errorf("all of it was looked at: %s", words)
			}
		})
	}
}

func TestHostileDocumentsAreRefusedInFewWords(t *testing.T) {
	deep := strings.Repeat(`{"allOf":[`, 30) + `{}` + strings.Repeat(`]}`, 30)
	for name, c := range map[string]struct{ data, words string }{
		"empty":          {"", "neither a JSON object nor a YAML mapping"},
		"not a document": {"hello", "neither a JSON object nor a YAML mapping"},
		"deep schema":    {schemas() + post(deep) + `}}`, "nested too deep"},
		"yaml circle":    {"openapi: 3.0.0\na: &a\n  b: *a\n", "nested deeper than 64 levels"},
		"yaml aliases":   {"openapi: 3.0.0\na: &a [" + strings.Repeat("x,", 99) + "]\nb: &b [" + strings.Repeat("*a,", 99) + "]\nc: &c [" + strings.Repeat("*b,", 99) + "]\nd: [" + strings.Repeat("*c,", 99) + "]\n", "more than 100000 values"},
	} {
		var words string
		proposing([]byte(c.data), maxWork, &words)()
		if !strings.Contains(words, c.words) || len(words) > 2000 {
			t.Errorf("%s: %s", name, short(words, 300))
		}
	}
}

// TestWhatAliasesMultiplyToTakesLittleMemory: some kilobytes of YAML can stand for any
// number of values.
func TestWhatAliasesMultiplyToTakesLittleMemory(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\npaths: {}\na0: &a0 {a: 1}\n")
	for i := range 29 {
		fmt.Fprintf(&b, "a%d: &a%d {", i+1, i+1)
		for _, key := range "abcdefghi" {
			fmt.Fprintf(&b, "%c: *a%d, ", key, i)
		}
		b.WriteString("}\n")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read([]byte(b.String()))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Errorf("%v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("reading %d bytes took %d MiB", b.Len(), took>>20)
	}
}

// TestAliasesOfADocumentAreFollowed: what is shared is meant where it is named.
func TestAliasesOfADocumentAreFollowed(t *testing.T) {
	shared := "x: &ok {description: done}\n"
	paths := "paths:\n"
	for i := range 500 {
		paths += fmt.Sprintf("  /p%d: {get: {operationId: o%d, responses: {'200': *ok}}}\n", i, i)
	}
	var words string
	proposing([]byte("openapi: 3.0.0\ncomponents: {securitySchemes: {b: {type: http, scheme: bearer}}}\nsecurity: [{b: []}]\n"+shared+paths), maxWork, &words)()
	if !strings.HasPrefix(words, "500 proposed") {
		t.Error(words)
	}
}

func FuzzPropose(f *testing.F) {
	f.Add([]byte(document("3.1.0", post(`{"$ref":"#/components/schemas/A","oneOf":[true,null]}`)+","+get("/a/{b}", `{"name":"b","in":"path","schema":{"type":"string"}}`), `"A":{"properties":{"a":{"type":["string","null"]}}}`)))
	f.Add([]byte("openapi: 3.0.0\npaths: &a {x: *a}\n"))
	f.Add([]byte(`{"openapi":"3.0.0","paths":{"/a":{"$ref":"#/paths/~1a"}}}`))
	f.Add([]byte(`{"openapi":"3.1","info":null,"servers":[null],"security":[[]],"paths":{"/a":{"parameters":[null,{"$ref":5}],"post":{"requestBody":{"content":{"*/*":{"schema":{"allOf":[{}]}}}},"responses":{"2":true}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Read(data)
		if err != nil {
			return
		}
		p, err := d.Propose(Options{ProjectID: "acme-x", BaseURL: "https://x"})
		if err != nil {
			return
		}
		registers(t, p)
	})
}

func BenchmarkPublic(b *testing.B) {
	for _, name := range public {
		data := publicDocument(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				propose(b, data, Options{})
			}
		})
	}
}
