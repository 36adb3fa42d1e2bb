package receiver

// Reason is a stable code for the rule that a refused call broke.
type Reason string

// The reasons.
const (
	NoSecret      Reason = "no_secret"      // this receiver has no secret, or an empty one
	MissingHeader Reason = "missing_header" // a runtime header is absent, empty, or repeated
	LineBreak     Reason = "line_break"     // a signed part contains CR or LF
	Timestamp     Reason = "timestamp"      // not Unix seconds in canonical form, or outside the window
	Signature     Reason = "signature"      // it matches none of the secrets
)

var sentences = map[Reason]string{
	NoSecret:      "this receiver has no secret to verify with, or an empty one: set it",
	MissingHeader: "each runtime header must be there once, with a value",
	LineBreak:     "no signed part may hold a line break",
	Timestamp:     "the timestamp must be Unix seconds, close to this receiver's clock: compare the clocks",
	Signature:     "the signature doesn't match: compare the secrets, and sign the target and the raw body as they are sent",
}

// RefusedError says why a call was refused. Its text may be shown to the caller: it contains
// no secret and nothing that helps to forge a signature.
type RefusedError struct {
	Reason Reason
	Header string // name of the header, if Reason is MissingHeader
}

// Error returns the reason and how to correct the call.
func (e *RefusedError) Error() string {
	text := string(e.Reason) + ": " + sentences[e.Reason]
	if e.Header != "" {
		text += ": " + e.Header
	}
	return text
}
