package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Problem is an error for display: a sentence, a detail and the stable code.
type Problem struct {
	Sentence, Detail string
	Code             countersign.Code
}

// RefusalOf returns err's *countersign.Error, nil for any other error: those are
// internal and never shown.
func RefusalOf(err error) *countersign.Error {
	e, _ := errors.AsType[*countersign.Error](err)
	return e
}

// ProblemOf words an error; nil for nil and for errors without a code.
func ProblemOf(err error) *Problem {
	e := RefusalOf(err)
	if e == nil {
		return nil
	}
	return &Problem{Sentence: SentenceOf(e), Detail: detailOf(e), Code: e.Code}
}

// sentences are the design's texts of errors, by code.
var sentences = map[countersign.Code]string{
	countersign.CodeUnauthenticated:   "You have been signed out. Sign in again; your text is kept.",
	countersign.CodeAssertionRequired: "Nothing is approved: approving needs your passkey. Press Approve again with JavaScript on.",
	countersign.CodeAssertionInvalid:  "Nothing is approved: the passkey’s signature does not fit this decision.",
	countersign.CodeSelfApproval:      "You requested this run, so someone else must decide.",
	countersign.CodeProjectScope:      "This is outside the projects you may see.",
	countersign.CodeNotFound:          "Page not found.",
	countersign.CodeRevisionConflict:  "Not saved: someone else saved a newer revision. Your text is kept.",
	countersign.CodeStateConflict:     "This was already decided or has changed. Nothing was sent twice.",
	countersign.CodeApprovalExpired:   "The time for this decision is over. Nothing was sent.",
	countersign.CodeCSRF:              "This form could not be accepted. Nothing was changed.",
	countersign.CodePayloadTooLarge:   "This is too large.",
}

// SentenceOf is the sentence of an error.
func SentenceOf(e *countersign.Error) string {
	if s := sentences[e.Code]; s != "" {
		return s
	}
	if e.Code == countersign.CodeInternal {
		return "Something broke on our side; " + e.Message + " is in the log."
	}
	return text.Upper(e.Message) + "."
}

func detailOf(e *countersign.Error) string {
	if sentences[e.Code] == "" {
		return ""
	}
	return text.Upper(e.Message) + "."
}

// Kept is a typed field of a form that was refused.
type Kept struct{ Name, Text string }

type errorData struct {
	Problem        *Problem
	Kept           []Kept
	Back, BackWord string
}

// errorPage shows the error and what was typed, so that no text is lost.
func errorPage(v *Request, e *countersign.Error) *Page {
	d := errorData{Problem: ProblemOf(e), Kept: typedFields(v), Back: Prefix + "/", BackWord: "Go to the overview"}
	p := &Page{Name: "error", Status: cmp.Or(e.Code.Status(), http.StatusConflict), Title: titles[e.Code.Status()], Data: d, Alone: !v.signedIn()}
	if e.Code == countersign.CodeUnauthenticated {
		d.Back, d.BackWord = Prefix+"/sign-in?next="+url.QueryEscape(refererPath(v)), "Sign in"
		p.Data = d
	}
	p.Crumbs = []Crumb{{Word: p.Title}}
	return p
}

var titles = map[int]string{
	400: "Not accepted", 401: "Signed out", 403: "Not allowed", 404: "Page not found", 405: "Not allowed", 409: "Not done",
	413: "Too large", 500: "Something broke", 503: "Not now",
}

// typedFields are the form's fields, except those that the page itself set.
func typedFields(v *Request) []Kept {
	var out []Kept
	for name, texts := range v.R.PostForm {
		if name == "csrf" || name == "code" || name == "link" || len(texts) == 0 || strings.TrimSpace(texts[0]) == "" {
			continue
		}
		out = append(out, Kept{name, texts[0]})
	}
	slices.SortFunc(out, func(a, b Kept) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// refererPath is the console page that the form was sent from, "/" if unknown.
func refererPath(v *Request) string {
	u, err := url.Parse(v.R.Referer())
	if err != nil || u.Host != v.R.Host || !strings.HasPrefix(u.Path, Prefix+"/") {
		return "/"
	}
	return strings.TrimPrefix(u.RequestURI(), Prefix)
}

func nothingHere(v *Request) (*Page, error) {
	return nil, countersign.Errorf(countersign.CodeNotFound, "there is no page at %s", v.R.URL.Path)
}

func tooMany() *Page {
	return &Page{Name: "error", Status: http.StatusTooManyRequests, Title: "Too many attempts", Alone: true, Data: errorData{
		Problem: &Problem{Sentence: "Too many attempts. Try again in a few minutes."}, Back: Prefix + "/sign-in", BackWord: "Go to sign-in",
	}}
}
