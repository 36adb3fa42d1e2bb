package importer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// Reason is why an operation is skipped: a stable word for counting.
type Reason string

// The reasons, in the order in which they are checked.
const (
	MethodNotOffered      Reason = "method_not_offered"      // HEAD, OPTIONS, TRACE
	OtherServer           Reason = "other_server"            // a project has one origin
	AuthenticationOther   Reason = "authentication_other"    // a project has one credential
	PathUnusable          Reason = "path_unusable"           // not a valid path of a capability (specification 2.5)
	PathParameterUnusable Reason = "path_parameter_unusable" // undeclared, or neither text nor number
	QueryParameterNeeded  Reason = "query_parameter_needed"  // required and not a scalar
	HeaderNeeded          Reason = "header_needed"           // required, and the runtime doesn't send it
	CookieNeeded          Reason = "cookie_needed"           // required, and the runtime sends no cookies
	BodyNotJSON           Reason = "body_not_json"           // forms, multipart, binary, other media types
	BodyNotObject         Reason = "body_not_object"         // inputs always form an object
	BodyFieldNeeded       Reason = "body_field_needed"       // required, without a single type
	NameClash             Reason = "name_clash"              // one name in two places of the request
	ResponseNotJSON       Reason = "response_not_json"       // a success answer that can't be read
	ResponseUnknown       Reason = "response_unknown"        // no success answer is described
	ExternalReference     Reason = "external_reference"      // the importer fetches no other document
	ReferenceUnresolved   Reason = "reference_unresolved"    // no target, or a cycle
	TooComplex            Reason = "too_complex"             // the document's budget is spent
)

// refusal is a reason with its message.
type refusal struct {
	reason Reason
	words  string
}

func refuse(r Reason, format string, args ...any) *refusal {
	return &refusal{r, fmt.Sprintf(format, args...)}
}

// quoted quotes text of the document, shortened.
func quoted(s string) string { return strconv.Quote(short(s, 80)) }

// short is text on one line, cut between words if possible.
func short(s string, most int) string {
	s = s[:min(len(s), 8*most)] // so that a long text costs nothing
	s = strings.Join(strings.Fields(safetext.Text(s)), " ")
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	cut := string(runes[:most-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
