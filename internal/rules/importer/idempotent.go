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
	if !strings.Contains(strings.ToLower(words), "idempotency-key") {
		return "" // most say nothing of it, and looking closely takes time
	}
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

// ownKey reports a name, of a header or a field, for the receiver's own keys: one for each call,
// by which it deduplicates.
func ownKey(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	return strings.Contains(name, "idempoten") || strings.HasSuffix(name, "requestid") && name != "requestid"
}

// otherKey is what the document names for deduplication and the runtime doesn't send by
// itself, "" if there is nothing.
func otherKey(params []parameter, fields []string) string {
	for _, p := range params {
		if p.in == "header" && ownKey(p.name) && !strings.EqualFold(p.name, "Idempotency-Key") {
			return "the header " + short(p.name, 80)
		}
	}
	for _, name := range fields {
		if ownKey(name) {
			return "the body's field " + short(name, 80)
		}
	}
	return ""
}
