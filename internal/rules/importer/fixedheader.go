package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// A capability has no inputs in headers: what an operation requires there is sent with each
// call of the project, or the operation is left out. Which it is follows from how many
// operations want it: a header of few must not go out with all.

// fixedHeader is a header that each call of the project is sent with.
type fixedHeader struct {
	name, value string // no value: a place for one
	given       bool   // by the caller
}

const accept = "accept"

// values are the values of which a header must have one, as the document has it: of an enum
// or a const, or else the one that it has by default, a version mostly.
func (p parameter) values() (out []string) {
	schema, why := p.schema().resolved()
	if why != nil {
		return nil
	}
	candidates := schema.at("enum").list()
	switch {
	case schema.has("const"):
		candidates = []node{schema.at("const")}
	case len(candidates) != 1 && schema.has("default"):
		candidates = []node{schema.at("default")}
	}
	for _, c := range candidates {
		if v, ok := c.value(); ok {
			out = append(out, v.Text())
		}
	}
	return out
}

// fixedValue is the one value that a header may have.
func (r *drafter) fixedValue(p parameter) (value string, ok bool) {
	values := p.values()
	if strings.EqualFold(p.name, accept) {
		i := slices.IndexFunc(values, request.IsJSONMediaType)
		if i < 0 || slices.ContainsFunc(values, isJSON) {
			return "application/json", len(values) == 0 || i >= 0
		}
		return values[i], true
	}
	if len(values) != 1 {
		return "", false
	}
	return values[0], r.sendable(p.name, values[0])
}

func isJSON(text string) bool { return text == "application/json" }

// sendable asks the service's own rule.
func (r *drafter) sendable(name, value string) bool {
	key := name + ":" + value
	known, asked := r.asked[key]
	if !asked {
		known = registered(countersign.ProjectWrite{Headers: countersign.Headers{name: value}})
		r.asked[key] = known
	}
	return known
}

// fixedHeaders are those that the project is proposed with, by their names in small letters:
// what the caller gives; Accept where one is required; what some require and most take, with
// the value that most of them want; and, with a place for its value, what most require.
func (r *drafter) fixedHeaders(operations []operation, given countersign.Headers) map[string]fixedHeader {
	taken, required := map[string]int{}, map[string]map[fixedHeader]int{}
	for _, o := range operations {
		for _, p := range o.params {
			if p.in != "header" || ownKey(p.name) || secretName(p.name) {
				continue
			}
			taken[strings.ToLower(p.name)]++
			if !p.required {
				continue
			}
			lower := strings.ToLower(p.name)
			if required[lower] == nil {
				required[lower] = map[fixedHeader]int{}
			}
			h := fixedHeader{name: p.name}
			if value, ok := r.fixedValue(p); ok {
				h.value = value
			}
			required[lower][h]++
		}
	}
	out := map[string]fixedHeader{}
	for lower, of := range required {
		if h, ok := r.chosenHeader(lower, of, taken[lower], len(operations)); ok {
			out[lower] = h
		}
	}
	for name, value := range given {
		out[strings.ToLower(name)] = fixedHeader{name, value, true}
	}
	return out
}

func (r *drafter) chosenHeader(lower string, required map[fixedHeader]int, taken, operations int) (fixedHeader, bool) {
	known := maps.Clone(required)
	maps.DeleteFunc(known, func(h fixedHeader, _ int) bool { return h.value == "" })
	if len(known) == 0 {
		most := slices.Sorted(maps.Keys(namesIn(required)))[0]
		return fixedHeader{name: most}, 2*total(required) > operations && r.sendable(most, "x") && !slices.Contains(runtimeHeaders, lower)
	}
	h := slices.MaxFunc(slices.Collect(maps.Keys(known)), func(a, b fixedHeader) int {
		return cmp.Or(known[a]-known[b], cmp.Compare(a.value, b.value), cmp.Compare(a.name, b.name)) // of versions the last
	})
	if lower == accept {
		return h, !isJSON(h.value)
	}
	return h, 2*taken >= operations && !slices.Contains(runtimeHeaders, lower)
}

func namesIn(of map[fixedHeader]int) map[string]bool {
	out := map[string]bool{}
	for h := range of {
		out[h.name] = true
	}
	return out
}

func total(of map[fixedHeader]int) (n int) {
	for _, count := range of {
		n += count
	}
	return n
}

// runtimeHeaders are headers that the runtime or HTTP itself sends, or that OpenAPI ignores.
var runtimeHeaders = []string{"idempotency-key", "authorization", "content-type", "user-agent", "host", "content-length", "accept-encoding", "connection"}

// headers looks at what an operation wants in headers and cookies.
func (d *draft) headers(params []parameter, r *drafter) *refusal {
	for _, p := range params {
		if why := d.header(p, r); why != nil {
			return why
		}
	}
	return nil
}

func (d *draft) header(p parameter, r *drafter) *refusal {
	lower := strings.ToLower(p.name)
	fixed, sent := r.fixed[lower]
	value, known := "", false
	if p.in == "header" {
		value, known = r.fixedValue(p)
	}
	switch {
	case p.in == "cookie" && p.required:
		return refuse(CookieNeeded, "the cookie %s is required, and the runtime keeps none", quoted(p.name))
	case p.in == "cookie":
		d.leaveOut("cookie", p.name)
	case p.in != "header" || r.authenticatesBy(lower):
	case lower == "authorization" && p.required && len(r.auths) > 0:
		return refuse(HeaderNeeded, "the header %s is required, and the project authenticates otherwise; import it as another project with --auth BEARER", quoted(p.name))
	case slices.Contains(runtimeHeaders, lower):
	case p.required && !sent && secretName(p.name) && len(r.auths) > 0 && len(d.operation.alternatives()) > 0:
		d.leaveOut("header", p.name+", a credential: the project's auth is sent instead; --auth API_KEY:"+p.name+" sends it")
		d.otherAuth = p.name
	case p.required && !sent && secretName(p.name):
		return refuse(HeaderNeeded, "the header %s is required and carries a credential; --auth API_KEY:%s sends one", quoted(p.name), short(p.name, 80))
	case ownKey(p.name) && p.required && !fixed.given && !r.Adapter:
		return refuse(HeaderNeeded, "the header %s is required with a key of its own for each call; 'countersign adapter' sends the runtime's so: import it with --adapter", quoted(p.name))
	case ownKey(p.name) && r.Adapter: // named as what it deduplicates by
	case lower == accept && !p.required && !known && !sent:
		d.leaveOut("header", p.name)
	case lower == accept && !p.required:
	case lower == accept && !known:
		return refuse(HeaderNeeded, "the header %s must be %s; the runtime reads JSON", quoted(p.name), few(p.values()))
	case lower == accept && !sent && isJSON(value):
	case p.required && sent && (fixed.given || !known || fixed.value == value):
		d.sent = append(d.sent, lower)
	case p.required && sent:
		return refuse(HeaderNeeded, "the header %s must be %s, and %s for others; import it as another project with --header %s=%s", quoted(p.name), quoted(value), quoted(fixed.value), short(p.name, 80), short(value, 80))
	case p.required && !r.sendable(p.name, "x"):
		return refuse(HeaderNeeded, "the header %s is required, and no project sends it: it changes the method, or is the runtime's or a connection's own", quoted(p.name))
	case p.required && known:
		return refuse(HeaderNeeded, "few require the header %s, and the project sends its headers with each call; --header %s=%s sends it with all, and --include chooses those that take it for a project of their own", quoted(p.name), short(p.name, 80), short(value, 80))
	case p.required:
		return refuse(HeaderNeeded, "the header %s is required, and the document gives no value for it; --header %s=VALUE sends one with each call", quoted(p.name), short(p.name, 80))
	case !sent:
		d.leaveOut("header", p.name)
	}
	return nil
}

// headersOf are those that some draft requires, and those that the caller gives.
func headersOf(drafts []*draft, fixed map[string]fixedHeader) countersign.Headers {
	out := countersign.Headers{}
	for _, h := range fixed {
		if h.given {
			out[h.name] = h.value
		}
	}
	for _, d := range drafts {
		for _, lower := range d.sent {
			out[fixed[lower].name] = fixed[lower].value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
