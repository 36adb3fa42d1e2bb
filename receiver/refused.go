package receiver

// Reason is the rule that a refused call broke: a stable word.
type Reason string

// The reasons.
const (
	NoSecret      Reason = "no_secret"      // this receiver has no secret, or an empty one
	MissingHeader Reason = "missing_header" // a runtime header is absent, empty, or there twice
	LineBreak     Reason = "line_break"     // a signed part holds CR or LF
	Timestamp     Reason = "timestamp"      // not Unix seconds in their one form, or outside the window
	Signature     Reason = "signature"      // it doesn't match with any secret
)

var sentences = map[Reason]string{
	NoSecret:      "this receiver has no secret to verify with, or an empty one: set it",
	MissingHeader: "each runtime header must be there once, with a value",
	LineBreak:     "no signed part may hold a line break",
	Timestamp:     "the timestamp must be Unix seconds, close to this receiver's clock: compare the clocks",
	Signature:     "the signature doesn't match: compare the secrets, and sign the target and the raw body as they are sent",
}

// RefusedError says why a call was not accepted. Its text may be shown to the
// caller: it holds no secret and nothing that helps to make a signature.
type RefusedError struct {
	Reason Reason
	Header string // of missing_header, which
}

// Error is the reason and what would be right.
func (e *RefusedError) Error() string {
	text := string(e.Reason) + ": " + sentences[e.Reason]
	if e.Header != "" {
		text += ": " + e.Header
	}
	return text
}
