package request

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

var shop = &countersign.Project{ID: "acme-shop", Revision: 3, Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://API.example.com:443/"}

func TestBuild(t *testing.T) {
	all := `{"resourceId":"A-1","b":2.50,"a":"x y","c":true}`
	tests := []struct {
		name             string
		c                countersign.Capability
		input            string
		url, query, body string
	}{
		{"POST by default: path, then body by name", countersign.Capability{Method: "POST", Path: "/o/{resourceId}"}, all,
			"https://api.example.com/o/A-1", `{}`, `{"a":"x y","b":2.50,"c":true}`},
		{"GET by default: path, then query by name", countersign.Capability{Method: "GET", Path: "/o/{resourceId}"}, all,
			"https://api.example.com/o/A-1?a=x%20y&b=2.50&c=true", `{"a":"x y","b":2.50,"c":true}`, ``},
		{"a query of one's own order", countersign.Capability{Method: "POST", Path: "/o/{resourceId}", Request: mapped([]string{"c", "b"}, nil)}, all,
			"https://api.example.com/o/A-1?c=true&b=2.50", `{"c":true,"b":2.50}`, `{"a":"x y"}`},
		{"a body of one's own order", countersign.Capability{Method: "PUT", Path: "/o/{resourceId}", Request: mapped(nil, []string{"c", "b", "a"})}, all,
			"https://api.example.com/o/A-1", `{}`, `{"c":true,"b":2.50,"a":"x y"}`},
		{"path and query share", countersign.Capability{Method: "PATCH", Path: "/o/{resourceId}", Request: mapped([]string{"resourceId"}, nil)}, all,
			"https://api.example.com/o/A-1?resourceId=A-1", `{"resourceId":"A-1"}`, `{"a":"x y","b":2.50,"c":true}`},
		{"listed fields that aren't given", countersign.Capability{Method: "POST", Path: "/o", Request: mapped([]string{"z", "a"}, []string{"y", "b"})}, `{"a":"1"}`,
			"https://api.example.com/o?a=1", `{"a":"1"}`, ``},
		{"no field left is no body", countersign.Capability{Method: "DELETE", Path: "/o/{resourceId}"}, `{"resourceId":"A-1"}`,
			"https://api.example.com/o/A-1", `{}`, ``},
		{"an empty query list leaves GET none", countersign.Capability{Method: "GET", Path: "/o", Request: mapped([]string{}, nil)}, `{}`,
			"https://api.example.com/o", `{}`, ``},
		{"numbers keep their digits", countersign.Capability{Method: "POST", Path: "/o", Request: mapped([]string{"q"}, nil)}, `{"q":9007199254740993,"b":1.000,"e":1E+2}`,
			"https://api.example.com/o?q=9007199254740993", `{"q":9007199254740993}`, `{"b":1.000,"e":1E+2}`},
		{"values keep their spelling but for blanks", countersign.Capability{Method: "POST", Path: "/o"}, `{"a":{"z":1, "a":[null,"\u0041<&>"]}}`,
			"https://api.example.com/o", `{}`, `{"a":{"z":1,"a":[null,"\u0041<&>"]}}`},
		{"RFC 3986 escapes", countersign.Capability{Method: "GET", Path: "/o"}, `{"a&b":"-._~ +&=?/%#:@!$'()*,;","ü":"ö\n\u0000"}`,
			"https://api.example.com/o?a%26b=-._~%20%2B%26%3D%3F%2F%25%23%3A%40%21%24%27%28%29%2A%2C%3B&%C3%BC=%C3%B6%0A%00", `{"a&b":"-._~ +&=?/%#:@!$'()*,;","ü":"ö\n\u0000"}`, ``},
		{"an empty value", countersign.Capability{Method: "GET", Path: "/o"}, `{"a":""}`, "https://api.example.com/o?a=", `{"a":""}`, ``},
		{"a number in the path", countersign.Capability{Method: "GET", Path: "/o/{resourceId}.json"}, `{"resourceId":17}`, "https://api.example.com/o/17.json", `{}`, ``},
		{"a template's own escapes stay", countersign.Capability{Method: "GET", Path: "/a%20b;v=1/"}, `{}`, "https://api.example.com/a%20b;v=1/", `{}`, ``},
		{"quotes in a name", countersign.Capability{Method: "POST", Path: "/o"}, `{"a\"b\\":1}`, "https://api.example.com/o", `{}`, `{"a\"b\\":1}`},
	}
	for _, tt := range tests {
		tt.c.Name = "c"
		got, err := Build(nil, shop, &tt.c, inputsOf(t, tt.input))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got.Method != tt.c.Method || got.URL != tt.url || got.Query.Raw() != tt.query || got.Body.Raw() != tt.body {
			t.Errorf("%s: got\n%s %s\nquery %s\nbody %s", tt.name, got.Method, got.URL, got.Query.Raw(), got.Body.Raw())
		}
		if preview, complete, err := Preview(nil, shop, &tt.c, inputsOf(t, tt.input), nil); err != nil || !complete || preview != got {
			t.Errorf("%s: the preview differs: %+v, %v, %v", tt.name, preview, complete, err)
		}
	}
}

// TestBuildRefuses what no longer fits once bound values are known.
func TestBuildRefuses(t *testing.T) {
	c := countersign.Capability{Name: "c", Method: "POST", Path: "/o/{resourceId}", InputSchema: schema("q:boolean", "n:number!"), Request: mapped([]string{"q"}, nil)}
	for input, want := range map[string]string{
		`{"resourceId":"A","n":"1"}`:                  "input.n: must be number, not string",
		`{"resourceId":"..","n":1}`:                   "input.resourceId: goes to the path, so it must be an id",
		`{"resourceId":{},"n":1}`:                     "input.resourceId: goes to the path, which carries string and number only, not object",
		`{"resourceId":"A","n":1,"q":[true]}`:         "input.q: must be boolean, not array",
		`{"resourceId":"A"}`:                          "input.n: is required by c",
		`{"n":1}`:                                     "input.resourceId: is required by c",
		`{"resourceId":"A","n":1,"x":1}`:              "input.x: c takes no such input",
		`{"resourceId":"A","n":null}`:                 "input.n: must be number, not null",
		`{"resourceId":"A","n":null,"q":null,"z":{}}`: "; input.q: must be boolean, not null; input.z: ",
	} {
		if r, err := Build(nil, shop, &c, inputsOf(t, input)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v", input, r, err)
		}
	}
	if _, err := Build(nil, &countersign.Project{Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://x/y"}, &c, nil); err == nil || !strings.HasPrefix(err.Error(), "the base URL must be") {
		t.Error(err)
	}
	if _, err := Build(nil, shop, &countersign.Capability{Name: "c", Method: "GET", Path: "no/slash"}, nil); err == nil || !strings.HasPrefix(err.Error(), "the path of c ") {
		t.Error(err)
	}
}

func TestTheLargestRequest(t *testing.T) {
	c := countersign.Capability{Name: "c", Method: "POST", Path: "/o"}
	for over := range 2 {
		text := strings.Repeat("x", countersign.MaxBodyBytes-len(`{"a":""}`)+over)
		_, err := Build(nil, shop, &c, map[string]countersign.Value{"a": countersign.String(text)})
		if (err == nil) != (over == 0) {
			t.Errorf("%d bytes over: %v", over, err)
		}
	}
}

func TestLocalEcho(t *testing.T) {
	c := countersign.Capability{Name: "c", Method: "GET", Path: "/o/{resourceId}"}
	for _, base := range []string{"", "https://api.example.com", "not even a URL"} {
		p := &countersign.Project{Adapter: countersign.AdapterLocalEcho, BaseURL: base}
		r, err := Build(nil, p, &c, inputsOf(t, `{"resourceId":"A-1","a":1}`))
		if err != nil || r.URL != "local-echo:/o/A-1?a=1" {
			t.Errorf("%q: %+v, %v", base, r, err)
		}
	}
}

func TestPreview(t *testing.T) {
	c := countersign.Capability{Name: "c", Method: "POST", Path: "/o/{resourceId}/{line}", InputSchema: schema("line:number", "q:string", "a:string", "b:string"), Request: mapped([]string{"q", "line"}, nil)}
	r, complete, err := Preview(nil, shop, &c, inputsOf(t, `{"resourceId":"A-1","b":"x"}`), bind("line", "q", "a"))
	if err != nil || complete {
		t.Fatal(complete, err)
	}
	from := `{"$from":"first.order.id"}`
	want := countersign.Request{
		Method: "POST", URL: "https://api.example.com/o/A-1/{line}?q={q}&line={line}",
		Query: countersign.RawValue(`{"q":` + from + `,"line":` + from + `}`),
		Body:  countersign.RawValue(`{"a":` + from + `,"b":"x"}`),
	}
	if r != want {
		t.Errorf("got %+v", r)
	}
	if _, _, err := Preview(nil, shop, &c, nil, bind("q")); err == nil {
		t.Error("a preview without a path value passed")
	}
}

func TestDigest(t *testing.T) {
	base := countersign.Request{Method: "POST", URL: "https://api.example.com/refund", Query: countersign.RawValue("{}"), Body: countersign.RawValue(`{"amount":5}`)}
	digest := Digest(base, "acme-shop", 3, "refund")
	// sha256sum of the line in Digest's comment
	if digest != "a2406bf0eff2832e71f5ca8f3b89f1d22b972ffc68c0a9916d18bd5cabca3030" {
		t.Errorf("got %s", digest)
	}
	umlaut := countersign.Request{Method: "POST", URL: base.URL, Body: countersign.RawValue(`{"name":"ü"}`)}
	// printf '4:POST,30:https://api.example.com/refund,13:{"name":"ü"},9:acme-shop,1:3,6:refund,' | sha256sum
	if got := Digest(umlaut, "acme-shop", 3, "refund"); got != "7c99a43f6523abb7adbd8b4f76cae55910addc5c4b7b032e75ba2145b410d915" {
		t.Errorf("lengths are not of bytes: %s", got)
	}
	seen := map[string]bool{digest: true}
	for _, other := range []string{
		Digest(countersign.Request{Method: "PUT", URL: base.URL, Body: base.Body}, "acme-shop", 3, "refund"),
		Digest(countersign.Request{Method: "POST", URL: base.URL + "s", Body: base.Body}, "acme-shop", 3, "refund"),
		Digest(countersign.Request{Method: "POST", URL: base.URL, Body: countersign.RawValue(`{"amount":5.0}`)}, "acme-shop", 3, "refund"),
		Digest(countersign.Request{Method: "POST", URL: base.URL}, "acme-shop", 3, "refund"),
		Digest(base, "acme-sho", 3, "refund"),
		Digest(base, "acme-shop", 4, "refund"),
		Digest(base, "acme-shop", 33, "efund"),
		Digest(base, "acme-shop", 3, "refund2"),
	} {
		if seen[other] {
			t.Errorf("%s is the digest of two requests", other)
		}
		seen[other] = true
	}
	stored := base
	base.Body, stored.Body = countersign.Value{}, countersign.Null
	if Digest(base, "p", 1, "c") != Digest(stored, "p", 1, "c") {
		t.Error("a request without a body changes its digest when it is stored")
	}
}

// FuzzBuild: whatever a template and values that pass are, the request stays on
// its origin and below its template's beginning; no reader sees a dot segment in
// it; and it is the same text for a URL parser as on the wire.
func FuzzBuild(f *testing.F) {
	f.Add("/orders/{resourceId}/refund", "A-1", "note", "a b/../?#")
	f.Add("/a%20b;v=1/{resourceId}.json", "..", "ü", "\x00")
	f.Add("/..;/%2e%2e/{resourceId}", "x", "", "")
	f.Fuzz(func(t *testing.T, template, id, name, value string) {
		c := countersign.Capability{Name: "c", Method: "GET", Path: template}
		input := map[string]countersign.Value{name: countersign.String(value)}
		if strings.Contains(template, "{resourceId}") {
			input["resourceId"] = countersign.String(id)
		}
		r, err := Build(nil, shop, &c, input)
		if err != nil {
			return
		}
		target, ok := strings.CutPrefix(r.URL, "https://api.example.com")
		prefix, _, _ := strings.Cut(template, "{")
		if !ok || !strings.HasPrefix(target, prefix) || !strings.HasPrefix(target, "/") {
			t.Fatalf("%q left its place: %q", template, r.URL)
		}
		u, err := url.Parse(r.URL)
		if err != nil || u.Host != "api.example.com" || u.User != nil || u.Fragment != "" || u.RequestURI() != target {
			t.Fatalf("%q is read as %+v, %v", r.URL, u, err)
		}
		for decoded := range 3 {
			text := u.Path
			for range decoded {
				if again, err := url.PathUnescape(text); err == nil {
					text = again
				}
			}
			if clean := path.Clean(text); clean != strings.TrimSuffix(text, "/") && text != "/" || strings.ContainsAny(text, "\\\x00\n\r") {
				t.Fatalf("%q means %q", r.URL, clean)
			}
		}
		if strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
			t.Fatalf("%q is no request line", target)
		}
		if got := u.Query(); !strings.Contains(template, "{"+name+"}") && got.Get(name) != input[name].Text() {
			t.Fatalf("%q carries %q, want %q", r.URL, got.Get(name), value)
		}
	})
}
