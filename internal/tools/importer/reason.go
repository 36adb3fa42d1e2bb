package importer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/rules/safetext"
)

// Reason is why an operation is skipped: a stable word to count by.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	MethodNotOffered      Reason = "method_not_offered"      // HEAD, OPTIONS, TRACE
	OtherServer           Reason = "other_server"            // a project has one origin
	AuthenticationOther   Reason = "authentication_other"    // a project has one credential
	PathUnusable          Reason = "path_unusable"           // no path of a capability (specification 2.5)
	PathParameterUnusable Reason = "path_parameter_unusable" // undeclared, or neither text nor number
	QueryParameterNeeded  Reason = "query_parameter_needed"  // required, and no scalar
	HeaderNeeded          Reason = "header_needed"           // required, and the runtime sends none such
	CookieNeeded          Reason = "cookie_needed"           // required, and the runtime keeps none
	BodyNotJSON           Reason = "body_not_json"           // forms, multipart, binary, other media types
	BodyNotObject         Reason = "body_not_object"         // inputs make an object
	BodyFieldNeeded       Reason = "body_field_needed"       // required, of no one type
	NameClash             Reason = "name_clash"              // one name in two places of the request
	ResponseNotJSON       Reason = "response_not_json"       // a success that can't be read
	ResponseUnknown       Reason = "response_unknown"        // no success is described
	ExternalReference     Reason = "external_reference"      // nothing else is fetched
	ReferenceUnresolved   Reason = "reference_unresolved"    // it leads nowhere, or in circles
	TooComplex            Reason = "too_complex"             // the budget of a document is spent
)

// refusal is a reason with words.
type refusal struct {
	reason Reason
	words  string
}

func refuse(r Reason, format string, args ...any) *refusal {
	return &refusal{r, fmt.Sprintf(format, args...)}
}

// quoted shows text of the document, short.
func quoted(s string) string { return strconv.Quote(short(s, 80)) }

// short is text in one line, cut at a word where there is one.
func short(s string, most int) string {
	s = s[:min(len(s), 8*most)] // what is cut off costs nothing
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
