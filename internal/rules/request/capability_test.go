package request

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// schema declares inputs as `name:type`.
func schema(fields ...string) map[string]countersign.InputField {
	out := map[string]countersign.InputField{}
	for _, f := range fields {
		name, kind, _ := strings.Cut(f, ":")
		kind, required := strings.CutSuffix(kind, "!")
		out[name] = countersign.InputField{Type: kind, Required: required}
	}
	return out
}

func mapped(query, body []string) *countersign.RequestMapping {
	return &countersign.RequestMapping{Query: query, Body: body}
}

// paths lists where problems are, so that tests don't repeat the words.
func paths(ps []countersign.Problem) []string {
	out := []string{}
	for _, p := range ps {
		out = append(out, p.Path)
	}
	return out
}

func TestPaths(t *testing.T) {
	good := []string{
		"/", "/orders", "/orders/", "/v1/orders/{resourceId}/refund", "/orders/{resourceId}.json", "/orders/{resourceId};v=1",
		"/a-b_c.d~e/!$&'()*+,=:@", "/orders/%20x%C3%B6", "/orders/...", "/.well-known/x", "/{resourceId}{resourceId}", "/orders/a..b", "/%ff",
	}
	for _, path := range good {
		if got := CheckCapability(nil, &countersign.Capability{Name: "c", Method: "POST", Path: path}); len(got) != 0 {
			t.Errorf("%s: %v", path, got)
		}
	}
	bad := []string{
		"", "orders", "https://evil/", " /orders", "//evil", "/orders//x", "/./x", "/../x", "/x/..", "/x/.", "/orders/../x", "/..;/x", "/.;a=b/x", "/;/x", "/x/;a",
		"/%2e%2e/x", "/%2E./x", "/.%2e/x", "/a%2fb", "/a%2Fb", "/a%5cb", `/a\b`, "/a%00b", "/a%0ab", "/a%0D", "/a%7f", "/a%25b", "/%252e%252e/x", "/..%3bx/y",
		"/a%", "/a%2", "/a%zz", "/a%+1", "/a b", "/a\tb", "/a\nb", "/a\rb", "/a\x00b", "/größe", "/a\"b", "/a<b", "/a>b", "/a^b", "/a`b", "/a|b", "/a[b", "/a\x7fb", "/a\xffb",
		"/orders?x=1", "/orders?", "/orders#x", "/orders#",
		"/{}", "/{", "/}", "/{a", "/a}", "/{a{b}}", "/{a/b}", "/{a b}", "/{{resourceId}}", "/{größe}", "/{resourceId}}", "/{%72}",
	}
	for _, path := range bad {
		got := CheckCapability(nil, &countersign.Capability{Name: "c", Method: "POST", Path: path})
		if !slices.Contains(paths(got), "path") {
			t.Errorf("%q passed: %v", path, got)
		}
	}
}

func TestCheckCapability(t *testing.T) {
	long := strings.Repeat("n", 128)
	tests := []struct {
		name string
		c    countersign.Capability
		want []string
	}{
		{"bare", countersign.Capability{Name: "refund order", Method: "POST", Path: "/r"}, nil},
		{"longest name", countersign.Capability{Name: long, Method: "POST", Path: "/r"}, nil},
		{"too long a name", countersign.Capability{Name: long + "n", Method: "POST", Path: "/r"}, []string{"name"}},
		{"no name", countersign.Capability{Method: "POST", Path: "/r"}, []string{"name"}},
		{"line break in the name", countersign.Capability{Name: "a\nb", Method: "POST", Path: "/r"}, []string{"name"}},
		{"bad UTF-8 in the name", countersign.Capability{Name: "a\xff", Method: "POST", Path: "/r"}, []string{"name"}},
		{"method", countersign.Capability{Name: "c", Method: "HEAD", Path: "/r"}, []string{"method"}},
		{"all at once", countersign.Capability{Method: "get", Path: "r", InputSchema: schema("a:date")}, []string{"name", "method", "inputSchema.a.type", "path"}},

		{"resourceId needs no declaration", countersign.Capability{Name: "c", Method: "POST", Path: "/{resourceId}", InputSchema: schema("a:string")}, nil},
		{"another placeholder does", countersign.Capability{Name: "c", Method: "POST", Path: "/{order}", InputSchema: schema("a:string")}, []string{"path"}},
		{"also without a schema", countersign.Capability{Name: "c", Method: "POST", Path: "/{order}"}, []string{"path"}},
		{"declared placeholders", countersign.Capability{Name: "c", Method: "POST", Path: "/{order}/{line}", InputSchema: schema("order:string", "line:number")}, nil},
		{"placeholder types", countersign.Capability{Name: "c", Method: "POST", Path: "/{a}/{b}/{c}/{resourceId}", InputSchema: schema("a:boolean", "b:object", "c:array", "resourceId:boolean")},
			[]string{"inputSchema.a.type", "inputSchema.b.type", "inputSchema.c.type", "inputSchema.resourceId.type"}},

		{"query and body", countersign.Capability{Name: "c", Method: "POST", Path: "/{id}", InputSchema: schema("id:string", "q:boolean", "b:array"), Request: mapped([]string{"q", "id"}, []string{"b"})}, nil},
		{"query of structures", countersign.Capability{Name: "c", Method: "POST", Path: "/r", InputSchema: schema("q:array", "r:object"), Request: mapped([]string{"q", "r"}, nil)}, []string{"request.query[0]", "request.query[1]"}},
		{"undeclared fields", countersign.Capability{Name: "c", Method: "POST", Path: "/r", InputSchema: schema("a:string"), Request: mapped([]string{"x"}, []string{"a", "y"})}, []string{"request.query[0]", "request.body[1]"}},
		{"without a schema nothing is undeclared", countersign.Capability{Name: "c", Method: "POST", Path: "/r", Request: mapped([]string{"x"}, []string{"y"})}, nil},
		{"duplicates", countersign.Capability{Name: "c", Method: "POST", Path: "/r", Request: mapped([]string{"x", "x"}, []string{"y", "z", "y"})}, []string{"request.query[1]", "request.body[2]"}},
		{"empty names", countersign.Capability{Name: "c", Method: "POST", Path: "/r", Request: mapped([]string{""}, []string{""})}, []string{"request.query[0]", "request.body[0]", "request.body[0]"}},
		{"in query and body", countersign.Capability{Name: "c", Method: "POST", Path: "/r", Request: mapped([]string{"x"}, []string{"x"})}, []string{"request.body[0]"}},
		{"in path and body", countersign.Capability{Name: "c", Method: "POST", Path: "/{resourceId}", Request: mapped(nil, []string{"resourceId"})}, []string{"request.body[0]"}},
		{"in path and query", countersign.Capability{Name: "c", Method: "POST", Path: "/{resourceId}", InputSchema: schema(), Request: mapped([]string{"resourceId"}, nil)}, nil},
		{"body of GET", countersign.Capability{Name: "c", Method: "GET", Path: "/r", Request: mapped(nil, []string{"x"})}, []string{"request.body"}},
		{"empty body of GET", countersign.Capability{Name: "c", Method: "GET", Path: "/r", Request: mapped(nil, []string{})}, []string{"request.body"}},

		{"GET with a query that leaves one out", countersign.Capability{Name: "c", Method: "GET", Path: "/{id}", InputSchema: schema("id:string", "a:string", "b:string"), Request: mapped([]string{"a"}, nil)}, []string{"inputSchema.b"}},
		{"POST with a body that leaves one out", countersign.Capability{Name: "c", Method: "POST", Path: "/{id}", InputSchema: schema("id:string", "a:string", "b:string", "q:string"), Request: mapped([]string{"q"}, []string{"a"})}, []string{"inputSchema.b"}},
		{"an empty body leaves all out", countersign.Capability{Name: "c", Method: "POST", Path: "/r", InputSchema: schema("a:string"), Request: mapped(nil, []string{})}, []string{"inputSchema.a"}},
		{"the default query of structures", countersign.Capability{Name: "c", Method: "GET", Path: "/r", InputSchema: schema("a:array", "b:object", "c:boolean")}, []string{"inputSchema.a.type", "inputSchema.b.type"}},
		{"the default body of structures", countersign.Capability{Name: "c", Method: "DELETE", Path: "/r", InputSchema: schema("a:array", "b:object")}, nil},
		{"the empty name", countersign.Capability{Name: "c", Method: "POST", Path: "/r", InputSchema: schema(":string")}, []string{"inputSchema"}},
		{"odd names are fine", countersign.Capability{Name: "c", Method: "POST", Path: "/r", InputSchema: schema("$from:string", "a b:object"), Sensitive: []string{"x"}, OutputField: "y.0"}, nil},
	}
	for _, tt := range tests {
		got := CheckCapability(nil, &tt.c)
		if !slices.Equal(paths(got), append([]string{}, tt.want...)) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		for _, p := range got {
			if p.Code == "" || p.Message == "" {
				t.Errorf("%s: %+v says too little", tt.name, p)
			}
		}
	}
}

// TestLongListsAreCheckedOnce: a mapping of a megabyte must not cost seconds.
func TestLongListsAreCheckedOnce(t *testing.T) {
	var names []string
	for i := range 200_000 {
		names = append(names, countersign.Int(int64(i)).Raw())
	}
	if got := CheckCapability(nil, &countersign.Capability{Name: "c", Method: "POST", Path: "/r", Request: mapped(names, nil)}); len(got) != 0 {
		t.Error(got[0])
	}
}
