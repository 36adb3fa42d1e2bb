package console

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

// fieldwise are the codes whose messages name fields.
var fieldwise = map[countersign.Code]bool{
	countersign.CodeInvalidRequest: true, countersign.CodeOriginNotAllowed: true, countersign.CodeCredentialNotAllowed: true,
	countersign.CodeExpectationRequired: true,
}

func problemMessage(err error) string {
	if e := refusalOf(err); e != nil {
		return e.Message
	}
	return ""
}

// fieldError is one problem of a document and its path.
type fieldError struct{ field, text string }

var atField = regexp.MustCompile(`^([^\s:]+): (.*)$`)

// fieldErrors splits a message into its problems (contract 2). Text without a path
// belongs to the problem before it.
func fieldErrors(message string) []fieldError {
	var out []fieldError
	for _, part := range strings.Split(message, "; ") {
		found := atField.FindStringSubmatch(part)
		switch {
		case found != nil:
			out = append(out, fieldError{found[1], found[2]})
		case len(out) > 0:
			out[len(out)-1].text += "; " + part
		default:
			out = append(out, fieldError{"", part})
		}
	}
	return out
}

// formAgain shows the page of a form again after err; an error that the form can't
// correct, or that keeps the page from being read, is returned instead.
func formAgain(err error, show func(error) (*page, error)) error {
	p, unread := show(err)
	if unread != nil {
		return unread
	}
	return answered(p, err)
}

// formAgain is [formAgain] for a page of the request.
func (v *pageRequest) formAgain(err error, show func(*pageRequest, error) (*page, error)) error {
	return formAgain(err, func(err error) (*page, error) { return show(v, err) })
}

// answered returns the page with err's status; errors that the form can't correct are
// returned themselves.
func answered(p *page, err error) error {
	switch code := countersign.ErrorCode(err); code {
	case countersign.CodeUnauthenticated, countersign.CodeNotFound, countersign.CodeRoleRequired, countersign.CodeProjectScope, countersign.CodeCSRF, countersign.CodeInternal, "":
		return err
	default:
		p.status, p.conflict = code.Status(), code == countersign.CodeRevisionConflict
	}
	return p
}

// invalid is the error of one field.
func invalid(field, format string, args ...any) error {
	return countersign.Errorf(countersign.CodeInvalidRequest, field+": "+format, args...)
}

// together joins the field errors of several parts of a form, so that all are shown at
// once.
func together(errs ...error) error {
	var texts []string
	for _, err := range errs {
		if err == nil {
			continue
		}
		if !fieldwise[countersign.ErrorCode(err)] {
			return err
		}
		texts = append(texts, problemMessage(err))
	}
	if len(texts) == 0 {
		return nil
	}
	return countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(texts, "; "))
}

// shownAgain shows a form of which nothing was saved or is wrong.
func shownAgain(show func(error) (*page, error)) error {
	p, err := show(nil)
	if err != nil {
		return err
	}
	return p
}

// refusedForm shows the form again with the error. Errors that the form can't correct
// are returned as they are.
func refusedForm(err error, again func(*problem) *page) error {
	p := problemOf(err)
	if p == nil || p.Code == countersign.CodeUnauthenticated || p.Code == countersign.CodeCSRF {
		return err
	}
	out := again(p)
	out.status = p.Code.Status()
	return out
}

// incomplete shows the form again with its field errors, as 400.
func incomplete(p *page) error {
	p.status = http.StatusBadRequest
	return p
}

// refusal words an error about typed text: the sentence, then the error's message,
// which starts with a path into the text. Other errors keep their own words; nil for
// errors without a code.
func refusal(err error, sentence string) *problem {
	p, e := problemOf(err), refusalOf(err)
	if p == nil || e.Code != countersign.CodeInvalidRequest && e.Code != countersign.CodeInvalidJSON {
		return p
	}
	p.Sentence, p.Detail = sentence, e.Message+"."
	return p
}

// status is the HTTP status of a page that shows this problem; 0, which stands for 200,
// without one.
func (p *problem) status() int {
	switch {
	case p == nil:
		return 0
	case p.Code == "":
		return http.StatusBadRequest
	}
	return p.Code.Status()
}

// chosen refuses a form that lacks required choices; for the API, the schema does this.
func (v *pageRequest) chosen(names ...string) error {
	var wrong []string
	for _, name := range names {
		if v.form(name) == "" {
			wrong = append(wrong, name+": it is needed")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(wrong, "; "))
}

// local returns next if it is a path within the console, else "/": a sign-in must not
// redirect elsewhere.
func local(next string) string {
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
