package request

import (
	"mime"
	"strings"
)

// IsJSONMediaType reports a media type whose values are JSON, by its name or by its suffix
// (RFC 6839): what a project's fixed header Accept may ask for, since an answer of any other
// type can't be read. It has one spelling for a header: visible ASCII.
func IsJSONMediaType(text string) bool {
	kind, _, err := mime.ParseMediaType(text)
	_, subtype, _ := strings.Cut(kind, "/")
	return err == nil && len(text) <= maxMediaType && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f }) &&
		(kind == "application/json" || strings.HasSuffix(subtype, "+json"))
}

const maxMediaType = 256
