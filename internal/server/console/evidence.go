package console

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

// What was sent, what came back and how it was judged: the parts of a page that
// prove something, shared by runs, approvals and recovery.

// sent is a request as it stands on the wire.
type sent struct {
	ID             string // of the element, for its copy button
	Method         string
	Scheme, Host   string
	Path           string // with the query
	Body           countersign.Value
	HasBody        bool
	Size           int64
	Digest         string // "" where it isn't known yet
	IdempotencyKey string
	Part           *bodyPart     // nil: drawn folded, and bounded
	Query          template.HTML // its fields as an approver reads them; "" elsewhere
}

// sentOf makes the view of a request; id must be unique on its page.
func sentOf(id string, r countersign.Request) sent {
	s := sent{ID: id, Method: r.Method, Body: r.Body, HasBody: !r.Body.IsZero() && !r.Body.IsNull(), Path: r.URL}
	if s.HasBody {
		s.Size = int64(len(r.Body.Raw()))
	}
	if u, err := url.Parse(r.URL); err == nil && u.Host != "" {
		s.Scheme, s.Host = u.Scheme+"://", u.Host
		s.Path = strings.TrimPrefix(r.URL, s.Scheme+s.Host)
	}
	return s
}

// got is an answer: its status line, its size, and what was selected of it.
type got struct {
	ID       string
	Response *countersign.Response
	Output   countersign.Value
	Has      bool // an output
	Refusal  bool
	Said     countersign.Value // the body of a refusal, as text
}

func gotOf(id string, r *countersign.Response, output countersign.Value) got {
	g := got{ID: id, Response: r, Output: output, Has: !output.IsZero()}
	if r != nil && r.Body != "" {
		g.Refusal, g.Said = true, countersign.String(r.Body)
	}
	return g
}

// judged is a row of the table of expected and actual.
type judged struct {
	Field            string
	Expected, Actual string
	Known, Met       bool
	Over             bool // no answer will come any more
}

// judgedOf lists what was asked of an answer and what it was; before there is an
// answer nothing is known. expectation is the plan's, nil for none.
func judgedOf(e *countersign.Expectation, v *countersign.Verification) []judged {
	var rows []judged
	switch {
	case v != nil && v.Field != "":
		row := judged{Field: v.Field, Expected: inline(v.Expected), Known: v.Status != countersign.VerificationSimulated, Actual: "absent"}
		if !v.Actual.IsZero() {
			row.Actual = inline(v.Actual)
			row.Met = v.Actual.Equal(v.Expected)
		}
		rows = append(rows, row)
	case e != nil:
		rows = append(rows, judged{Field: e.Field, Expected: inline(e.Equals)})
	}
	return append(rows, judgedStatus(e, v)...)
}

// judgedStatus is the row of the HTTP status, where one was asked for.
func judgedStatus(e *countersign.Expectation, v *countersign.Verification) []judged {
	if e == nil || e.StatusCode == 0 {
		return nil
	}
	row := judged{Field: "HTTP status", Expected: strconv.FormatInt(e.StatusCode, 10)}
	if v != nil && v.StatusCode != 0 {
		row.Known, row.Actual, row.Met = true, strconv.FormatInt(v.StatusCode, 10), v.StatusCode == e.StatusCode
	}
	return []judged{row}
}
