package httpapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

// param is one query parameter of a route.
type param struct {
	name string
	doc  string
	enum []string // allowed values; nil: any text
	kind paramKind
}

type paramKind int

const (
	textParam paramKind = iota
	limitParam
	offsetParam
	afterParam
	timeParam
	boolParam
	idParam
	openListParam // a word of a list that may get more
)

// paging are the parameters of every list (specification 2.13).
var paging = []param{
	{name: "limit", doc: "page size, 1 to 200; default 100", kind: limitParam},
	{name: "offset", doc: "how many to skip; default 0", kind: offsetParam},
}

func listQuery(filters ...param) []param { return append(slices.Clone(paging), filters...) }

// readQuery reads the route's query parameters. Unknown, repeated, empty and
// out-of-range ones are errors, never clamped or ignored.
func (c *call) readQuery(rt route) []countersign.Problem {
	c.list.Limit = countersign.DefaultPageLimit
	c.query = map[string]string{}
	if rt.op == "" { // what is public ignores its query (contract 12.1)
		return nil
	}
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return []countersign.Problem{{Path: "query", Message: "it is not validly escaped"}}
	}
	var problems []countersign.Problem
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(rt.query, func(p param) bool { return p.name == name })
		if i < 0 {
			problems = append(problems, unknownParam(name, rt.query))
			continue
		}
		if message := c.take(rt.query[i], values[name]); message != "" {
			problems = append(problems, countersign.Problem{Path: name, Message: message})
		}
	}
	return problems
}

func unknownParam(name string, known []param) countersign.Problem {
	words := make([]string, len(known))
	for i, p := range known {
		words[i] = p.name
	}
	allowed := "this operation takes none"
	if len(words) > 0 {
		allowed = "known are " + strings.Join(words, ", ")
	}
	return countersign.Problem{Path: fmt.Sprintf("%.64q", name), Message: "unknown query parameter; " + allowed}
}

// take stores one parameter's value; the message says what would be valid.
func (c *call) take(p param, values []string) string {
	if len(values) != 1 || values[0] == "" {
		return "give it once, with a value"
	}
	v := values[0]
	c.query[p.name] = v
	switch p.kind {
	case limitParam:
		return number(v, 1, countersign.MaxPageLimit, &c.list.Limit)
	case offsetParam:
		return number(v, 0, maxOffset, &c.list.Offset)
	case afterParam:
		after := 0
		message := number(v, 0, maxOffset, &after)
		c.after = new(int64(after))
		return message
	case timeParam:
		if _, err := countersign.ParseInstant(v); err != nil {
			return err.Error()
		}
	case idParam:
		if !countersign.ValidID(v) {
			return idRule
		}
	case boolParam:
		if v != "true" && v != "false" {
			return "it must be true or false"
		}
		c.list.Retired = c.list.Retired || p.name == retiredParam.name && v == "true"
	}
	if p.enum != nil && !slices.Contains(p.enum, v) {
		return "it must be one of " + strings.Join(p.enum, ", ")
	}
	return ""
}

// maxOffset is beyond any list and keeps sums from overflowing.
const maxOffset = 1 << 40

func number(v string, low, high int, into *int) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high || strconv.Itoa(n) != v {
		return fmt.Sprintf("it must be a whole number from %d to %d", low, high)
	}
	*into = n
	return ""
}
