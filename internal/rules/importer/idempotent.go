package importer

import (
	"regexp"
	"strings"
)

// The runtime repeats nothing by itself. Declaring a capability idempotent says that its
// receiver deduplicates durably by the Idempotency-Key header (specification 2.5), and may
// let it run without approval (RISK_BASED). So only the document's explicit statement counts
// and never the method: PUT and DELETE promise the same state, not that a repetition does
// nothing.

// idempotency is the reason why an operation is idempotent, "" if the document gives none.
func (o operation) idempotency(params []parameter) string {
	for _, name := range extensions {
		if o.at(name).isFalse() {
			return ""
		}
		if o.at(name).isTrue() {
			return "extension " + name
		}
	}
	for _, p := range params {
		if p.in == "header" && strings.EqualFold(p.name, "Idempotency-Key") {
			return "header parameter Idempotency-Key"
		}
	}
	words := o.words()
	if found := isIdempotent.FindString(words); found != "" && !notIdempotent.MatchString(words) {
		return "its description: " + short(found, 80)
	}
	return ""
}

var extensions = []string{"x-idempotent", "x-idempotency", "x-is-idempotent"}

// Prose counts if it mentions deduplication by the header that is sent.
var (
	isIdempotent  = regexp.MustCompile(`(?i)[^.\n]{0,60}\b(idempotent|deduplicated?s?)\b[^.\n]{0,40}\bIdempotency-Key\b|[^.\n]{0,60}\bIdempotency-Key\b[^.\n]{0,60}\b(idempotent|deduplicated?s?)\b`)
	notIdempotent = regexp.MustCompile(`(?i)\b(not|never|isn't|non|no longer|without)[ -]+(\w+ )?(idempotent|deduplicate)`)
)

// otherKey is a header that the document names for deduplication and that the runtime doesn't
// send, "" if there is none.
func otherKey(params []parameter) string {
	for _, p := range params {
		name := strings.ToLower(strings.ReplaceAll(p.name, "_", "-"))
		if p.in == "header" && name != "idempotency-key" && strings.Contains(name, "idempotency") {
			return p.name
		}
	}
	return ""
}
