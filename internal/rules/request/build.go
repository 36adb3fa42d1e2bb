package request

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// EchoOrigin replaces the origin in the url of a LOCAL_ECHO project.
const EchoOrigin = "local-echo:"

// Build makes the request of a capability from its resolved inputs, byte for
// byte as it will be sent, digested and shown to an approver (specification 4,
// rule 7). The same inputs always give the same bytes: query and body fields
// come in the order of the mapping's list, else sorted by name, and every number
// keeps its digits. Body is absent when no field is left for it.
//
// The error's text is safe to show: an input that does not fit (a bound value is
// seen here for the first time), a base URL that is no origin, or a request of
// more than 1 MiB. Nothing may be sent then.
// There is no result once the meter has come to its end.
func Build(meter *cost.Meter, p *countersign.Project, c *countersign.Capability, input map[string]countersign.Value) (countersign.Request, error) {
	r, _, err := Preview(meter, p, c, input, nil)
	return r, err
}

// Preview is Build for a step whose bindings are still open (contract 6,
// DRY_RUN): a bound input shows as {"$from": "step.field"} in query and body and
// leaves {name} in the url. complete is true when nothing was bound, so that the
// request is exactly what would be sent and can be digested.
func Preview(meter *cost.Meter, p *countersign.Project, c *countersign.Capability, input map[string]countersign.Value, bound map[string]countersign.Binding) (r countersign.Request, complete bool, err error) {
	origin, err := originOf(p)
	if err != nil {
		return countersign.Request{}, false, err
	}
	m, err := newMapping(c)
	if err != nil {
		return countersign.Request{}, false, fmt.Errorf("the path of %s %w", c.Name, err)
	}
	if problems := m.checkInputs(meter, input, bound); len(problems) > 0 {
		return countersign.Request{}, false, errors.New(countersign.JoinProblems(problems))
	}
	if meter.Over() {
		return countersign.Request{}, false, nil
	}
	r = newForm(m, input, bound).request(origin)
	r.Headers = headersOf(p)
	if max(len(r.URL), len(r.Body.Raw())) > countersign.MaxBodyBytes {
		return countersign.Request{}, false, fmt.Errorf("the request of %s is larger than 1 MiB", c.Name)
	}
	return r, len(bound) == 0, nil
}

// Rebuild is Build for inputs that a request was made from before: they fit.
func Rebuild(p *countersign.Project, c *countersign.Capability, input map[string]countersign.Value) (countersign.Request, error) {
	origin, err := originOf(p)
	if err != nil {
		return countersign.Request{}, err
	}
	m, err := newMapping(c)
	if err != nil {
		return countersign.Request{}, err
	}
	r := newForm(m, input, nil).request(origin)
	r.Headers = headersOf(p)
	return r, nil
}

func originOf(p *countersign.Project) (string, error) {
	if p.Adapter == countersign.AdapterLocalEcho {
		return EchoOrigin, nil
	}
	origin, err := NormalizeOrigin(p.BaseURL)
	if err != nil {
		return "", fmt.Errorf("the base URL %w", err)
	}
	return origin, nil
}

// form is a mapping with its values. Absent inputs are left out; unresolved ones have
// the value that is displayed for them.
type form struct {
	mapping
	names  []string // sorted
	values map[string]countersign.Value
	open   map[string]countersign.Binding
}

func newForm(m mapping, input map[string]countersign.Value, bound map[string]countersign.Binding) form {
	values := input
	if len(bound) > 0 || hasAbsent(input) {
		values = make(map[string]countersign.Value, len(input)+len(bound))
		maps.Copy(values, input)
		maps.DeleteFunc(values, func(_ string, v countersign.Value) bool { return v.IsZero() })
	}
	for name, b := range bound {
		from := countersign.String(b.StepID + "." + b.Field)
		values[name] = countersign.ObjectValue(map[string]countersign.Value{"$from": from})
	}
	return form{mapping: m, names: sortedNames(values), values: values, open: bound}
}

func hasAbsent(input map[string]countersign.Value) bool {
	for _, v := range input {
		if v.IsZero() {
			return true
		}
	}
	return false
}

func (f form) request(origin string) countersign.Request {
	query := f.queryOrder(f.names)
	r := countersign.Request{
		Method: f.capability.Method,
		URL:    origin + f.pathText() + f.queryText(query),
		Query:  f.object(query),
	}
	if fields := f.bodyOrder(f.names); len(fields) > 0 {
		r.Body = f.object(fields)
	}
	return r
}

func (f form) pathText() string {
	var b strings.Builder
	for _, p := range f.parts {
		b.WriteString(p.literal)
		if p.name != "" {
			b.WriteString(f.text(p.name))
		}
	}
	return b.String()
}

func (f form) queryText(fields []string) string {
	var b strings.Builder
	separator := byte('?')
	for _, name := range fields {
		b.WriteByte(separator)
		b.WriteString(escape(name))
		b.WriteByte('=')
		b.WriteString(f.text(name))
		separator = '&'
	}
	return b.String()
}

// text is a value as written in a url; an unresolved one is its placeholder.
func (f form) text(name string) string {
	if _, open := f.open[name]; open {
		return "{" + name + "}"
	}
	return escape(f.values[name].Text())
}

// object writes the fields in this order, each value exactly as it was read.
func (f form) object(fields []string) countersign.Value {
	size := 2
	for _, name := range fields {
		size += len(name) + len(f.values[name].Raw()) + len(`"":,`)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteByte('{')
	for i, name := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		writeName(&b, name)
		b.WriteByte(':')
		b.WriteString(f.values[name].Raw())
	}
	b.WriteByte('}')
	return countersign.RawValue(b.String())
}

// writeName writes a member's name as JSON has it.
func writeName(b *strings.Builder, name string) {
	if !isPlain(name) {
		b.WriteString(countersign.String(name).Raw())
		return
	}
	b.WriteByte('"')
	b.WriteString(name)
	b.WriteByte('"')
}

// isPlain reports unreserved characters only, which mean themselves in JSON and in a url.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isUnreserved(s[i]) {
			return false
		}
	}
	return true
}

// escape is RFC 3986's: everything but unreserved characters, byte by byte. An
// id, which is all that a path takes, comes out as it went in.
func escape(s string) string {
	if isPlain(s) {
		return s
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}
