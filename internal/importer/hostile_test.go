package importer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// patience is far more than any document takes on a busy machine, and far less
// than a quadratic one would.
const patience = 30 * time.Second

// within proposes of a document and bounds the time.
func within(t *testing.T, name string, data []byte) {
	t.Helper()
	begun := time.Now()
	d, err := Read(data)
	var words string
	if err != nil {
		words = err.Error()
	} else if p, err := d.Propose(Options{ProjectID: "acme-x", BaseURL: "https://x"}); err != nil {
		words = err.Error()
	} else {
		words = fmt.Sprintf("%d proposed, %v", len(p.Proposed), p.Reasons)
	}
	took := time.Since(begun)
	t.Logf("%s: %d bytes, %v: %s", name, len(data), took.Round(time.Millisecond), short(words, 100))
	if took > patience {
		t.Errorf("%s took %v", name, took)
	}
	if len(words) > 2000 {
		t.Errorf("%s: the words are %d bytes long", name, len(words))
	}
}

// filled repeats what item writes, between the two ends, up to a size.
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

func TestHostileDocumentsCostNoMoreThanTheyShould(t *testing.T) {
	const head = `{"openapi":"3.1.0","security":[{"b":[]}],"components":{"securitySchemes":{"b":{"type":"http","scheme":"bearer"}},`
	schemas := func(list ...string) string { return head + `"schemas":{` + strings.Join(list, ",") + `}},"paths":{` }
	shared := func(i int) string { return fmt.Sprintf(`"/p%0100d":{"$ref":"#/x"}`, i) }
	const size = 256 << 10
	deep := strings.Repeat(`{"allOf":[`, 30) + `{}` + strings.Repeat(`]}`, 30)
	var fan []string
	for i := range 40 {
		ref := fmt.Sprintf(`{"$ref":"#/components/schemas/s%d"}`, i+1)
		fan = append(fan, fmt.Sprintf(`"s%d":{"allOf":[%s,%s,%s]}`, i, ref, ref, ref))
	}
	wide := string(filled(`"wide":{"properties":{`, `}}`, size/8, func(i int) string { return fmt.Sprintf(`"f%d":{"type":"string"}`, i) }))
	long := `"` + strings.Repeat("n", size/2) + `"`
	for name, data := range map[string][]byte{
		"empty":          nil,
		"not a document": []byte("hello"),
		"deep":           []byte(strings.Repeat(`{"a":`, 100_000)),
		"deep schema":    []byte(schemas() + post(deep) + `}}`),
		"fan of schemas": []byte(schemas(fan...) + post(`{"$ref":"#/components/schemas/s0"}`) + `}}`),
		"shared wide": filled(schemas(wide), `}}`, size, func(i int) string {
			return strings.Replace(post(`{"$ref":"#/components/schemas/wide"}`), "/a", fmt.Sprint("/p", i), 1)
		}),
		"long name":        filled(head+`"x":0},"x":{"post":{"requestBody":{"content":{"application/json":{"schema":{"properties":{`+long+`:{"type":"string"}}}}}},`+ok+`}},"paths":{`, `}}`, size, shared),
		"long description": filled(head+`"x":0},"x":{"get":{"description":`+long+`,`+ok+`}},"paths":{`, `}}`, size, shared),
		"long operationId": filled(head+`"x":0},"x":{"get":{"operationId":`+long+`,`+ok+`}},"paths":{`, `}}`, size, shared),
		"long media type":  filled(head+`"x":0},"x":{"get":{"responses":{"200":{"content":{`+long+`:{}}}}}},"paths":{`, `}}`, size, shared),
		"long paths":       filled(schemas(), `}}`, size, func(i int) string { return fmt.Sprintf(`"/%s%d":{"get":{%s}}`, strings.Repeat("p", 200), i, ok) }),
		"many servers":     filled(head+`"x":0},"x":{"get":{`+ok+`},"servers":[`+strings.TrimSuffix(strings.Repeat(`{"url":"https://`+strings.Repeat("{a}", 600)+`"},`, 300), ",")+`]},"paths":{`, `}}`, size, shared),
		"many operations":  filled(schemas(), `}}`, 4*size, func(i int) string { return fmt.Sprintf(`"/%d":{"get":{}}`, i) }),
		"many lists":       filled(`{"openapi":"3.0.0","x":[`, `]}`, 4*size, func(int) string { return `{"a":0}` }),
		"yaml depth":       []byte("openapi: " + strings.Repeat("[", 9000)),
		"yaml aliases":     []byte("openapi: 3.0.0\na: &a [" + strings.Repeat("x,", 99) + "]\nb: &b [" + strings.Repeat("*a,", 99) + "]\nc: &c [" + strings.Repeat("*b,", 99) + "]\nd: [" + strings.Repeat("*c,", 99) + "]\n"),
		"yaml circle":      []byte("openapi: 3.0.0\na: &a\n  b: *a\n"),
		"yaml keys":        filled("openapi: 3.0.0\nx: {", "}\n", 2*size, func(i int) string { return fmt.Sprintf("k%d: 0", i) }),
		"yaml list":        filled("openapi: 3.0.0\nx: [", "]\n", 2*size, func(int) string { return "a" }),
		"yaml comments":    append([]byte("openapi: 3.0.0\n"), bytes.Repeat([]byte("# c\n\n"), size/5)...),
		"yaml anchors":     append([]byte("openapi: 3.0.0\n"), []byte(strings.Repeat("? &a\n", 20_000))...),
	} {
		within(t, name, data)
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
