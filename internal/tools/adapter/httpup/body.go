package httpup

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

// encode makes the body that the upstream takes, and its media type.
func (u *upstream) encode(c up.Call) (body []byte, mediaType string, bad *up.Problem) {
	field := ""
	if u.cfg.Key != nil && c.Method != "GET" {
		field = u.cfg.Key.Field
	}
	form := u.cfg.Encode == "form"
	if len(c.Body) == 0 && field == "" {
		return nil, "", nil
	}
	if !form && field == "" {
		return c.Body, "application/json", nil
	}
	object := map[string]countersign.Value{}
	if len(c.Body) > 0 {
		if err := exactjson.Check(c.Body); err != nil {
			return nil, "", up.Invalid("the body is no JSON: %v", err)
		}
		var isObject bool
		if object, isObject = countersign.RawValue(string(c.Body)).Object(); !isObject {
			return nil, "", up.Invalid("the body must be a JSON object: its fields are those of the upstream")
		}
	}
	if field != "" {
		if _, taken := object[field]; taken {
			return nil, "", up.Invalid("the body's field %q is the upstream's idempotency key, which the adapter writes", field)
		}
		object[field] = countersign.String(c.Key)
	}
	if form {
		return []byte(strings.Join(appendForm(nil, "", countersign.ObjectValue(object)), "&")), "application/x-www-form-urlencoded", nil
	}
	return []byte(countersign.ObjectValue(object).Raw()), "application/json", nil
}

// appendForm writes nested fields as a[b] and arrays as a[0], sorted by name. Null is left out.
func appendForm(pairs []string, name string, v countersign.Value) []string {
	if object, is := v.Object(); is {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			inner := key
			if name != "" {
				inner = name + "[" + key + "]"
			}
			pairs = appendForm(pairs, inner, object[key])
		}
		return pairs
	}
	if list, is := v.Array(); is {
		for i, item := range list {
			pairs = appendForm(pairs, name+"["+strconv.Itoa(i)+"]", item)
		}
		return pairs
	}
	if v.IsNull() {
		return pairs
	}
	return append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(v.Text()))
}
