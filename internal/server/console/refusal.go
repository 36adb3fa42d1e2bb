package console

import (
	"regexp"
	"strings"

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
