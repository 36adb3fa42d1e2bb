package request

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// SpeaksOfAnother reports the body of a 409 whose `error` says that a request with this key is
// being performed, or was begun and has no known end. Of a body that was cut the beginning counts.
func SpeaksOfAnother(body string) bool { return SaysError(body, "in_progress", "in_doubt") }

// SaysError reports a body whose `error` is one of these codes. Of a body that was cut the
// beginning counts.
func SaysError(body string, codes ...string) bool {
	d := jsontext.NewDecoder(strings.NewReader(strings.TrimPrefix(body, "\ufeff")), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return false
		}
		if name.String() != "error" {
			if d.SkipValue() != nil {
				return false
			}
			continue
		}
		value, err := d.ReadToken()
		if err == nil && value.Kind() == '"' && slices.Contains(codes, value.String()) {
			return true
		}
		if err != nil || value.Kind() == '{' || value.Kind() == '[' {
			return false
		}
	}
}
