package drawn

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Views of requests, responses and verifications, shared by the pages of runs,
// approvals and recovery.

// Sent is a request as sent over the network.
type Sent struct {
	ID             string // element ID, for the copy button
	Method         string
	Scheme, Host   string
	Path           string // with the query
	Body           countersign.Value
	HasBody        bool
	Size           int64
	Digest         string // "" if not known yet
	IdempotencyKey string
	Part           *bodyPart     // nil: rendered folded and bounded
	Query          template.HTML // rendered fields; on approval pages only
	Others         []ShownMember // all else that is sent
}

// ShownMember is a member of a record that a page shows as it is.
type ShownMember struct {
	Word string
	HTML template.HTML
}

// memberWords are for members that readers know by another name.
var memberWords = map[string]string{"headers": "Headers, besides those that each call has"}

// ShownMembers are members that a page has no place for, each with its value.
func ShownMembers(all []request.Member) []ShownMember {
	out := make([]ShownMember, len(all))
	for i, m := range all {
		out[i] = ShownMember{cmp.Or(memberWords[m.Name], m.Name), DrawnWhole(m.Value)}
	}
	return out
}

// SentOf makes the view of a request; id must be unique on the page.
func SentOf(id string, r countersign.Request) Sent {
	d := request.Describe(r)
	s := Sent{ID: id, Method: d.Method, Body: d.Body, HasBody: !d.Body.IsZero(), Path: d.URL, Others: ShownMembers(d.Others)}
	if s.HasBody {
		s.Size = int64(len(d.Body.Raw()))
	}
	if u, err := url.Parse(r.URL); err == nil && u.Host != "" {
		s.Scheme, s.Host = u.Scheme+"://", u.Host
		s.Path = strings.TrimPrefix(r.URL, s.Scheme+s.Host)
	}
	return s
}

// Got is a response: its status, its size and the selected output.
type Got struct {
	ID       string
	Response *countersign.Response
	Output   countersign.Value
	Has      bool // an output
	Refusal  bool
	Said     countersign.Value // the beginning of a body that gives no output, as text
}

// GotOf is an answer as it is shown; id is that of its element.
func GotOf(id string, r *countersign.Response, output countersign.Value) Got {
	g := Got{ID: id, Response: r, Output: output, Has: !output.IsZero()}
	if r != nil && r.Body != "" {
		g.Refusal, g.Said = true, countersign.String(r.Body)
	}
	return g
}

// Judged is a row of the table of expected and actual values.
type Judged struct {
	Field            string
	Expected, Actual string
	Known, Met       bool
	Over             bool // no response can arrive anymore
}

// JudgedOf lists what was expected of a response and what it contained; nothing is
// known before it arrives.
func JudgedOf(es []countersign.Expectation, v *countersign.Verification) []Judged {
	var rows []Judged
	switch {
	case v != nil && len(v.Checks) > 0:
		for _, c := range v.Checks {
			rows = append(rows, judgedField(c.Status, c.Field, c.Expected, c.Actual))
		}
	case v != nil && v.Field != "":
		rows = append(rows, judgedField(v.Status, v.Field, v.Expected, v.Actual))
	default:
		for _, e := range es {
			rows = append(rows, Judged{Field: e.Field, Expected: text.Inline(e.Equals)})
		}
	}
	for i := range es {
		rows = append(rows, judgedStatus(&es[i], v)...)
	}
	return once(rows)
}

// once leaves out rows that say the same again: the step and its capability may expect the same.
func once(rows []Judged) (out []Judged) {
	for _, row := range rows {
		if !slices.Contains(out, row) {
			out = append(out, row)
		}
	}
	return out
}

func judgedField(status, field string, expected, actual countersign.Value) Judged {
	row := Judged{Field: field, Expected: text.Inline(expected), Known: status != countersign.VerificationSimulated, Actual: "absent"}
	if !actual.IsZero() {
		row.Actual, row.Met = text.Inline(actual), actual.Equal(expected)
	}
	return row
}

// judgedStatus is the row of the HTTP status, if one is expected.
func judgedStatus(e *countersign.Expectation, v *countersign.Verification) []Judged {
	if e.StatusCode == 0 {
		return nil
	}
	row := Judged{Field: "HTTP status", Expected: strconv.FormatInt(e.StatusCode, 10)}
	if v != nil && v.StatusCode != 0 {
		row.Known, row.Actual, row.Met = true, strconv.FormatInt(v.StatusCode, 10), v.StatusCode == e.StatusCode
	}
	return []Judged{row}
}
