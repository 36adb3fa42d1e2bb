package request

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestACapabilityThatIsRefusedSaysWhatWouldBeRight reads each message.
func TestACapabilityThatIsRefusedSaysWhatWouldBeRight(t *testing.T) {
	post := func(change func(*countersign.Capability)) *countersign.Capability {
		c := &countersign.Capability{Name: "refund", Method: "POST", Path: "/r"}
		change(c)
		return c
	}
	with := func(query, body []string, fields ...string) *countersign.Capability {
		return post(func(c *countersign.Capability) { c.InputSchema, c.Request = schema(fields...), mapped(query, body) })
	}
	at := func(path string, fields ...string) *countersign.Capability {
		return post(func(c *countersign.Capability) { c.Path, c.InputSchema = path, schema(fields...) })
	}
	field := func(f countersign.InputField) *countersign.Capability {
		return post(func(c *countersign.Capability) { c.InputSchema = map[string]countersign.InputField{"a": f} })
	}
	titled := func(title string) *countersign.Capability {
		return post(func(c *countersign.Capability) { c.Title, c.InputSchema = title, schema("amount:number") })
	}
	number := countersign.RawValue
	for _, test := range []struct {
		c    *countersign.Capability
		want string
	}{
		{post(func(c *countersign.Capability) { c.Name = "" }), "name: must not be empty"},
		{post(func(c *countersign.Capability) { c.Name = strings.Repeat("n", 129) }), "name: must not be longer than 128 bytes"},
		{post(func(c *countersign.Capability) { c.Name = "a\nb" }), "name: must not hold control characters"},
		{post(func(c *countersign.Capability) { c.Method = "HEAD" }), "method: must be one of GET, POST, PUT, PATCH, DELETE"},
		{at("/r", ":string"), "inputSchema: must not name an input with the empty text"},
		{at("/r", "a:date"), "inputSchema.a.type: must be one of string, number, boolean, object, array"},
		{at("/{order}", "a:string"), "path: {order} must be declared in inputSchema as string or number; only {resourceId} needs no declaration"},
		{at("/{order}", "order:object"), "inputSchema.order.type: fills {order} in the path, so it must be string or number"},
		{with([]string{"q"}, nil, "q:array"), "request.query[0]: q is declared as array; a query carries string, number and boolean only"},
		{post(func(c *countersign.Capability) { c.Method, c.Request = "GET", mapped(nil, []string{}) }), "request.body: GET sends no body; leave it out"},
		{post(func(c *countersign.Capability) { c.Request = mapped([]string{"x"}, []string{"x"}) }), "request.body[0]: x is in request.query already; a field goes to one of the two"},
		{post(func(c *countersign.Capability) {
			c.Path, c.Request = "/{resourceId}", mapped(nil, []string{"resourceId"})
		}), "request.body[0]: resourceId fills the path already; a field of the path can't be in the body"},
		{post(func(c *countersign.Capability) { c.Request = mapped([]string{""}, nil) }), "request.query[0]: must name an input"},
		{post(func(c *countersign.Capability) { c.Request = mapped([]string{"x", "x"}, nil) }), "request.query[1]: x is listed already"},
		{with([]string{"x"}, nil, "a:string"), "request.query[0]: x is not declared in inputSchema"},
		{with(nil, []string{}, "a:string"), "inputSchema.a: has no place in the request; name it in request.query, request.body or the path"},
		{post(func(c *countersign.Capability) { c.Method, c.InputSchema = "GET", schema("a:object") }), "inputSchema.a.type: goes to the query, which carries string, number and boolean only"},
		{post(func(c *countersign.Capability) {
			c.Method, c.InputSchema, c.Request = "GET", schema("a:string"), mapped([]string{}, nil)
		}), "inputSchema.a: has no place in the request; name it in request.query or the path"},
		{field(countersign.InputField{Type: "number", Minimum: number("2"), Maximum: number("1")}), "inputSchema.a.maximum: must not be below minimum"},
		{field(countersign.InputField{Type: "number", Minimum: number(`"2"`)}), "inputSchema.a.minimum: must be a number, not string"},
		{field(countersign.InputField{Type: "array", MaxLength: 1}), "inputSchema.a.maxLength: is for inputs of type string only, and this one is array"},
		{field(countersign.InputField{Type: "string", Enum: []countersign.Value{}}), "inputSchema.a.enum: must name a value; leave it out where any is allowed"},
		{field(countersign.InputField{Type: "string", Enum: []countersign.Value{number("1")}}), "inputSchema.a.enum[0]: must be string, as the input is, not number"},
		{field(countersign.InputField{Type: "number", Enum: []countersign.Value{number("200")}, Maximum: number("100")}), "inputSchema.a.enum[0]: must be at most 100"},
		{field(countersign.InputField{Type: "string", Pattern: "("}), "inputSchema.a.pattern: must be an RE2 expression: error parsing regexp: missing closing ): `(`"},
		{field(countersign.InputField{Type: "string", Pattern: "(ab){1000}c"}), "inputSchema.a.pattern: is too large once its repetitions are written out; repeat less"},
		{titled("refund {amuont}"), "title: {amuont} names no input of the capability"},
		{titled("refund {amount"), "title: has a malformed placeholder; write {name}, the name of an input or a dotted path into one"},
		{titled("refund }"), "title: has a } without {; write a placeholder as {name}"},
		{at("r"), "path: must be an absolute path that begins with /"},
		{at("/r?x=1"), "path: must not hold a query string; name the fields in request.query"},
		{at("/r#x"), "path: must not hold a fragment"},
		{at("/a b"), `path: must not hold " " as it is; percent-encode it if it belongs there`},
		{at("/größe"), `path: must not hold "ö" as it is; percent-encode it if it belongs there`},
		{at("/a%2"), "path: has a % that is not followed by two hexadecimal digits"},
		{at("/a%zz"), "path: has a % that is not followed by two hexadecimal digits"},
		{at("/a%2fb"), "path: must not hold %2f: dots, slashes, backslashes, percent signs and control characters can't be hidden in escapes"},
		{at("/x/../y"), "path: must not hold . or .. as a segment"},
		{at("//x"), "path: must not hold an empty segment (//)"},
		{at("/{a b}"), "path: has a malformed placeholder; write {name}, of letters, digits, dot, underscore and hyphen"},
		{at("/a}"), "path: has a } without {; write a placeholder as {name}"},
	} {
		if got := CheckCapability(nil, test.c); len(got) != 1 || got[0].String() != test.want {
			t.Errorf("\n got %s\nwant %s", countersign.JoinProblems(got), test.want)
		}
	}
}

// TestAnInputThatDoesNotFitSaysWhatWouldFit reads each message.
func TestAnInputThatDoesNotFitSaysWhatWouldFit(t *testing.T) {
	c := &countersign.Capability{
		Name: "refund", Method: "POST", Path: "/orders/{resourceId}", Request: mapped([]string{"flag", "page"}, nil),
		InputSchema: map[string]countersign.InputField{
			"amount": {Type: "number", Required: true, Minimum: countersign.RawValue("1"), Maximum: countersign.RawValue("9")},
			"note":   {Type: "string", MaxLength: 3}, "code": {Type: "string", Pattern: "^[A-Z]+$"},
			"state": {Type: "string", Enum: []countersign.Value{countersign.String("open"), countersign.String("shut")}},
			"flag":  {Type: "boolean"}, "page": {Type: "number"},
		},
	}
	open := &countersign.Capability{Name: "search", Method: "POST", Path: "/search/{resourceId}", Request: mapped([]string{"q"}, []string{"b"})}
	good := `"resourceId":"A-1","amount":2`
	for _, test := range []struct {
		c     *countersign.Capability
		input string
		bound []string
		want  string
	}{
		{c, `{"resourceId":"A-1"}`, nil, "input.amount: is required by refund"},
		{c, `{` + good + `,"other":1}`, nil, "input.other: refund takes no such input; its inputSchema does not declare it"},
		{c, `{` + good + `}`, []string{"amount"}, "inputBindings.amount: amount has a literal input already; keep one of the two"},
		{c, `{` + good + `,"note":1}`, nil, "input.note: must be string, not number"},
		{c, `{` + good + `,"note":"four"}`, nil, "input.note: must not be longer than 3 characters"},
		{c, `{` + good + `,"code":"a"}`, nil, "input.code: must match the pattern ^[A-Z]+$"},
		{c, `{` + good + `,"code":"` + strings.Repeat("A", countersign.MaxPatternText+1) + `"}`, nil, "input.code: must not be longer than 10000 characters, as everything that has a pattern"},
		{c, `{` + good + `,"state":"ajar"}`, nil, `input.state: must be one of "open", "shut"`},
		{c, `{"resourceId":"A-1","amount":0}`, nil, "input.amount: must be at least 1"},
		{c, `{"resourceId":"A-1","amount":10}`, nil, "input.amount: must be at most 9"},
		{c, `{"resourceId":"..","amount":2}`, nil, "input.resourceId: goes to the path, so it must be an id: a letter or digit, then at most 127 letters, digits, dots, underscores and hyphens"},
		{open, `{"resourceId":true}`, nil, "input.resourceId: goes to the path, which carries string and number only, not boolean"},
		{open, `{"resourceId":"A","q":[]}`, nil, "input.q: goes to the query, which carries string, number and boolean only, not array"},
		{open, `{"resourceId":"A","x":1}`, nil, "input.x: has no place in the request of search; its mapping names it nowhere"},
	} {
		if got := CheckInputs(nil, test.c, inputsOf(t, test.input), bind(test.bound...)); len(got) != 1 || got[0].String() != test.want {
			t.Errorf("\n got %s\nwant %s", countersign.JoinProblems(got), test.want)
		}
	}
}

// TestWhatIsNoOriginSaysWhatOneIs reads each message.
func TestWhatIsNoOriginSaysWhatOneIs(t *testing.T) {
	for _, test := range []struct{ origin, want string }{
		{"https://größe.example", "must be ASCII without spaces; write international names in their xn-- form"},
		{"https://u:p@api.example.com", "must be an origin only: no user, query, fragment, escape or IPv6 zone"},
		{"ftp://api.example.com", "must be an HTTP or HTTPS origin such as https://api.example.com"},
		{"https://api.example.com/v1", "must be an origin only: no path"},
		{"https://[127.0.0.1]", "must be an HTTP or HTTPS origin such as https://api.example.com"},
		{"https://example..com", "must name a host: letters, digits, hyphens and underscores between single dots"},
		{"https://" + strings.Repeat("a.", 127) + "com", "has a host name of more than 253 characters"},
		{"https://127.1", "has a host that ends in a number but is no plain IPv4 address"},
		{"https://api.example.com:0", "has a port that is not between 1 and 65535"},
	} {
		if _, err := NormalizeOrigin(test.origin); err == nil || err.Error() != test.want {
			t.Errorf("%s\n got %v\nwant %s", test.origin, err, test.want)
		}
	}
}

// TestWhatIsNoAddressSaysWhatOneIs: what a webhook's address is refused with.
func TestWhatIsNoAddressSaysWhatOneIs(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"https://hooks.example.com/" + strings.Repeat("x", 2048), "must be at most 2048 characters"},
		{"https://hooks.example.com/#x", "must be ASCII without spaces, backslashes and fragment"},
	} {
		if _, _, err := SplitAddress(test.address); err == nil || err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", err, test.want)
		}
	}
}
