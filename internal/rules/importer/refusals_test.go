package importer

import (
	"fmt"
	"strings"
	"testing"
)

// TestADocumentThatCannotBeReadIsRefusedInWords reads each message.
func TestADocumentThatCannotBeReadIsRefusedInWords(t *testing.T) {
	var many strings.Builder
	for i := range MaxOperations + 1 {
		fmt.Fprintf(&many, `"/p%d":{"get":{}},`, i)
	}
	aliases := "a: &a [" + strings.Repeat("x,", 99) + "]\nb: &b [" + strings.Repeat("*a,", 99) + "]\nc: &c [" + strings.Repeat("*b,", 99) + "]\nd: [" + strings.Repeat("*c,", 99) + "]\n"
	for _, test := range []struct{ data, want string }{
		{strings.Repeat(" ", MaxDocumentBytes+1), "it is larger than 16777216 bytes"},
		{"#" + strings.Repeat(" ", MaxYAMLBytes), "it is YAML of more than 8388608 bytes; convert it to JSON"},
		{"openapi: \xff", "it is not UTF-8"},
		{"hello", "it is neither a JSON object nor a YAML mapping"},
		{`{"swagger":"1.2"}`, `swagger: it must be version 2.0, not "1.2"; or OpenAPI 3.0 or 3.1`},
		{`{"swagger":"2.0"}`, "servers[0]: it names no host; name the server with --base-url"},
		{"openapi: 3.0.0\nx: [" + strings.Repeat("a,", maxYAMLValues) + "]\n", "it is YAML of more than 250000 values; convert it to JSON"},
		{`{"openapi":"3.0.0","x":[` + strings.Repeat("1,", maxValues) + `1]}`, "it has more than 600000 values; choose a part of it"},
		{"openapi: 4.0.0", `openapi: it must be a version 3.0 or 3.1, not "4.0.0"`},
		{aliases, "line 1: its aliases stand for more than 100000 values; write them out, or convert it to JSON"},
		{"a: &a\n  b: *a\n", "line 2: it is nested deeper than 64 levels"},
		{"[a, b]: 1", "line 1: a key must be plain text"},
		{"x: &x {a: 1}\ny:\n  <<: *x\n", "line 3: merge keys (<<) stand for no JSON; write the fields out"},
		{"a: 1\na: 2\n", `line 2: the key "a" is there already`},
		{document("3.0.0", strings.TrimSuffix(many.String(), ","), ""), "it has more than 20000 operations; choose some of them"},
		{`{"openapi":"3.0.0","servers":[{"url":"https://a/` + strings.Repeat("x", 2000) + `"}]}`, "servers[0]: its URL is longer than 2000 bytes; name the server with --base-url"},
		{`{"openapi":"3.0.0","servers":[{"url":"https://a:b"}]}`, "servers[0]: it is no URL; name the server with --base-url"},
	} {
		d, err := Read([]byte(test.data))
		if err == nil {
			_, err = d.Propose(Options{ProjectID: "acme-x"})
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%.60q: %v\nnot %s", test.data, err, test.want)
		}
	}
}

// TestASkippedOperationSaysWhy reads what each is skipped with.
func TestASkippedOperationSaysWhy(t *testing.T) {
	x := `{"name":"x","in":"path","required":true,"schema":{"type":"string"}}`
	fields := `{"content":{"application/json":{"schema":{"required":["x"],"properties":{"x":{"type":"string"}}}}}}`
	withBody := func(body string) string { return `"/a":{"post":{"requestBody":` + body + `,` + ok + `}}` }
	for _, test := range []struct{ paths, want string }{
		{`"/a":{"head":{` + ok + `}}`, "a capability is GET, POST, PUT, PATCH or DELETE"},
		{`"/a":{"get":{"servers":[{"url":"https://other.example.com"}],` + ok + `}}`, `it is on "https://other.example.com"; a project has one origin, so import it as another project with --base-url and --include`},
		{`"/a":{"get":{"security":[{"other":[]}],` + ok + `}}`, `its authentication is "other", which the document doesn't declare; --auth BEARER, BASIC, HMAC or API_KEY:HEADER says what serves instead`},
		{`"/a":{"get":{"requestBody":{"required":true,"content":{"application/json":{}}},` + ok + `}}`, "it is a GET that requires a body"},
		{withBody(`{"content":{"multipart/form-data":{}}}`), "its body is multipart/form-data; the runtime sends application/json"},
		{withBody(`{"required":true,"content":{"application/json":{"schema":{"type":"object"}}}}`), "the body is described by no fields"},
		{post(`{"type":"array"}`), "the body is array; inputs make an object"},
		{post(`{"required":["a"],"properties":{"a":{"type":"date"}}}`), `the body's field "a" is required, and what it may be can't be told`},
		{`"/a/{x}":{"post":{"parameters":[` + x + `],"requestBody":` + fields + `,` + ok + `}}`, `"x" is required in the body, and is in the path or query`},
		{get("/a/{b}", ""), `the document declares no parameter for "{b}" in the path`},
		{get("/a/{b}", `{"name":"b","in":"path","schema":{"type":"object"}}`), `the path parameter "b" is neither plain text nor a number`},
		{get("/a/{x}", x+`,{"name":"x","in":"query","required":true,"schema":{"type":"string"}}`), `"x" is in the path and in the query`},
		{get("/a", `{"name":"b","in":"query","required":true,"schema":{"type":"array"}}`), `the query parameter "b" is required and no text, number or boolean`},
		{post(`{"$ref":"common.json#/x"}`), `it needs "common.json"; import the document as a file, with that file below its folder, or bundle it first`},
		{post(`{"$ref":"#x"}`), `"#x" is no reference into the document`},
		{post(`{"$ref":"#/components/schemas/none"}`), `"#/components/schemas/none" points to nothing in the document`},
		{post(`{"$ref":"#/components/schemas/self"}`), "references lead to one another without end"},
		{post(`{"$ref":"#/components/schemas/fan"}`), "its references multiply to more than is followed; choose fewer operations with --include or --tag"},
	} {
		schemas := `"self":{"$ref":"#/components/schemas/self"},"fan":` + strings.Repeat(`{"allOf":[`, 20) + "{}" + strings.Repeat("]}", 20)
		d, err := Read([]byte(document("3.0.3", test.paths+`,"/good":{"get":{`+ok+`}},"/good2":{"get":{`+ok+`}}`, schemas)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Propose(Options{ProjectID: "acme-x"})
		if err != nil || len(p.Skipped) != 1 || p.Skipped[0].Message != test.want {
			t.Errorf("%s: %v, %v\nnot %s", test.paths, err, p.Skipped, test.want)
		}
	}
}
