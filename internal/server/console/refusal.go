package console

import (
	"regexp"
	"strings"

	"github.com/countersign/countersign"
)

// What a form was refused with, by the fields that it names.

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

// aWrong is one problem of a document and where it is.
type aWrong struct{ field, text string }

var atField = regexp.MustCompile(`^([^\s:]+): (.*)$`)

// wrongs takes a message apart into its problems (contract 2). What has no path
// goes on with the problem before it.
func wrongs(message string) []aWrong {
	var out []aWrong
	for _, part := range strings.Split(message, "; ") {
		found := atField.FindStringSubmatch(part)
		switch {
		case found != nil:
			out = append(out, aWrong{found[1], found[2]})
		case len(out) > 0:
			out[len(out)-1].text += "; " + part
		default:
			out = append(out, aWrong{"", part})
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

// answered makes a page the answer of its form; errors that the form can't mend
// have a page of their own.
func answered(p *page, err error) error {
	switch code := countersign.ErrorCode(err); code {
	case countersign.CodeUnauthenticated, countersign.CodeNotFound, countersign.CodeRoleRequired, countersign.CodeProjectScope, countersign.CodeCSRF, countersign.CodeInternal, "":
		return err
	default:
		p.status = code.Status()
	}
	return p
}

// invalid refuses one field of a form.
func invalid(field, format string, args ...any) error {
	return countersign.Errorf(countersign.CodeInvalidRequest, field+": "+format, args...)
}

// together makes one refusal of what several parts of a form were refused with, so
// that all of it is said at once.
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
