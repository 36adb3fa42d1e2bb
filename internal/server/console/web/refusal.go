package web

import (
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/countersign/countersign"
)

// Errors of a form, assigned to the fields that they name.

// Fieldwise are the codes whose messages name fields.
var Fieldwise = map[countersign.Code]bool{
	countersign.CodeInvalidRequest: true, countersign.CodeOriginNotAllowed: true, countersign.CodeCredentialNotAllowed: true,
	countersign.CodeExpectationRequired: true,
}

// ProblemMessage is the message of an error that has a code, "" for any other.
func ProblemMessage(err error) string {
	if e := RefusalOf(err); e != nil {
		return e.Message
	}
	return ""
}

// fieldError is one problem of a document and its path.
type fieldError struct{ Field, Text string }

var atField = regexp.MustCompile(`^([^\s:]+): (.*)$`)

// FieldErrors splits a message into its problems (contract 2). Text without a path
// belongs to the problem before it.
func FieldErrors(message string) []fieldError {
	var out []fieldError
	for _, part := range strings.Split(message, "; ") {
		found := atField.FindStringSubmatch(part)
		switch {
		case found != nil:
			out = append(out, fieldError{found[1], found[2]})
		case len(out) > 0:
			out[len(out)-1].Text += "; " + part
		default:
			out = append(out, fieldError{"", part})
		}
	}
	return out
}

// FormAgain shows the page of a form again after err; an error that the form can't
// correct, or that keeps the page from being read, is returned instead.
func FormAgain(err error, show func(error) (*Page, error)) error {
	p, unread := show(err)
	if unread != nil {
		return unread
	}
	return Answered(p, err)
}

// FormAgain is [formAgain] for a page of the request.
func (r *Request) FormAgain(err error, show func(*Request, error) (*Page, error)) error {
	return FormAgain(err, func(err error) (*Page, error) { return show(r, err) })
}

// Answered returns the page with err's status; errors that the form can't correct are
// returned themselves.
func Answered(p *Page, err error) error {
	switch code := countersign.ErrorCode(err); code {
	case countersign.CodeUnauthenticated, countersign.CodeNotFound, countersign.CodeRoleRequired, countersign.CodeProjectScope, countersign.CodeCSRF, countersign.CodeInternal, "":
		return err
	default:
		p.Status, p.conflict = code.Status(), code == countersign.CodeRevisionConflict
	}
	return p
}

// Invalid is the error of one field.
func Invalid(field, format string, args ...any) error {
	return countersign.Errorf(countersign.CodeInvalidRequest, field+": "+format, args...)
}

// Together joins the field errors of several parts of a form, so that all are shown at
// once.
func Together(errs ...error) error {
	var texts []string
	for _, err := range errs {
		if err == nil {
			continue
		}
		if !Fieldwise[countersign.ErrorCode(err)] {
			return err
		}
		texts = append(texts, ProblemMessage(err))
	}
	if len(texts) == 0 {
		return nil
	}
	return countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(texts, "; "))
}

// ShownAgain shows a form of which nothing was saved or is wrong.
func ShownAgain(show func(error) (*Page, error)) error {
	p, err := show(nil)
	if err != nil {
		return err
	}
	return p
}

// RefusedForm shows the form again with the error. Errors that the form can't correct
// are returned as they are.
func RefusedForm(err error, again func(*Problem) *Page) error {
	p := ProblemOf(err)
	if p == nil || p.Code == countersign.CodeUnauthenticated || p.Code == countersign.CodeCSRF {
		return err
	}
	out := again(p)
	out.Status = p.Code.Status()
	return out
}

// Incomplete shows the form again with its field errors, as 400.
func Incomplete(p *Page) error {
	p.Status = http.StatusBadRequest
	return p
}

// Refusal words an error about typed text: the sentence, then the error's message,
// which starts with a path into the text. Other errors keep their own words; nil for
// errors without a code.
func Refusal(err error, sentence string) *Problem {
	p, e := ProblemOf(err), RefusalOf(err)
	if p == nil || e.Code != countersign.CodeInvalidRequest && e.Code != countersign.CodeInvalidJSON {
		return p
	}
	p.Sentence, p.Detail = sentence, e.Message+"."
	return p
}

// Status is the HTTP status of a page that shows this problem; 0, which stands for 200,
// without one.
func (p *Problem) Status() int {
	switch {
	case p == nil:
		return 0
	case p.Code == "":
		return http.StatusBadRequest
	}
	return p.Code.Status()
}

// Chosen refuses a form that lacks required choices; for the API, the schema does this.
func (r *Request) Chosen(names ...string) error {
	var wrong []string
	for _, name := range names {
		if r.Form(name) == "" {
			wrong = append(wrong, name+": it is needed")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(wrong, "; "))
}

// Local returns next if it is a path within the console, else "/": a sign-in must not
// redirect elsewhere.
func Local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || !plainPath(u.Path) {
		return "/"
	}
	return next
}

// plainPath reports whether a decoded path is already clean: no dot segments, no empty
// segments, no backslashes (which browsers read as slashes) and no control characters.
func plainPath(decoded string) bool {
	clean := path.Clean(decoded)
	return (decoded == clean || decoded == clean+"/") && !strings.ContainsFunc(decoded, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}
