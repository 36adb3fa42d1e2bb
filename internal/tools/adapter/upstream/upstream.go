// Package upstream is what the adapter knows of any upstream: how a call to it is prepared and
// performed, and what can be known of it afterwards.
package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/outbound"
)

// Upstream is what the adapter stands in front of.
type Upstream interface {
	// Prepare does all that can fail before a call is begun. A Problem says that none was.
	Prepare(ctx context.Context, c Call) (Perform, *Problem)
	// Follow asks once for the state of a job. It returns no answer where the job goes on.
	Follow(ctx context.Context, job string) (*Answer, error)
	// Pace is how often a job is asked for, and how long a caller waits for its end.
	Pace() (every, timeout time.Duration)
	// Operations are what it offers.
	Operations() []Operation
	// Start makes ready what takes its time, so that the first call doesn't wait for it.
	Start(ctx context.Context)
	// Close ends what the upstream needs between calls.
	Close()
}

// Perform makes the call, at most once.
type Perform func(ctx context.Context) Outcome

// Call is what the runtime asks for.
type Call struct {
	Key    string
	Method string
	Path   string // below the upstream's, as it was sent
	Query  string // as it was sent, without the question mark
	Body   []byte
}

// Operation is one that is offered, for the API document. Its path begins with a slash.
type Operation struct {
	Method, Path, Description string
	Input                     json.RawMessage // a schema of the body; nil: not known
}

// Answer is one that the runtime gets.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
	Unkept      bool // nothing of it is kept, so that it isn't signed
}

// Outcome is what is known of a call: one of the three, or why nothing is known.
type Outcome struct {
	Answer    *Answer  // its end
	Job       string   // it goes on there
	NotCalled *Problem // nothing was called
	Unknown   string   // why its end isn't known
	Said      string   // the beginning of what the upstream said then
	Status    int      // with that status, 0: none came
}

// Problem is an answer of the adapter itself.
type Problem struct {
	Status  int
	Code    string
	Message string
	Unkept  bool // it can't be kept
}

// Answer writes the problem down.
func (p *Problem) Answer() *Answer {
	body, err := json.Marshal(map[string]string{"error": p.Code, "message": p.Message})
	if err != nil {
		panic(err) // texts can always be written
	}
	return &Answer{Status: p.Status, ContentType: "application/json", Body: body, Unkept: p.Unkept}
}

// NotCalled says that nothing can have been called.
func NotCalled(format string, args ...any) *Problem {
	return &Problem{Status: http.StatusFailedDependency, Code: "not_called", Message: fmt.Sprintf(format, args...) + "; nothing was called"}
}

// NotFound refuses what isn't offered.
func NotFound(what string) *Problem {
	return &Problem{Status: http.StatusNotFound, Code: "not_found", Message: what + " is not offered here; GET /openapi.json lists what is"}
}

// Invalid refuses a request that can't be turned into the upstream's.
func Invalid(format string, args ...any) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "invalid_request", Message: fmt.Sprintf(format, args...)}
}

// Wait is how long a caller waits for the end of a call, and an HTTP upstream for an answer.
const Wait = 50 * time.Second

// Memory keeps what a provider gave in place of what the adapter was given, over restarts.
type Memory interface {
	Remember(ctx context.Context, name, value string) error
	Recall(ctx context.Context, name string) (string, error)
}

// Secrets are the adapter's, by the name of their variable.
type Secrets func(name string) (string, error)

// Of returns a secret that must be there.
func (s Secrets) Of(name string) (string, error) {
	v, err := s(name)
	if err == nil && v == "" {
		err = fmt.Errorf("the variable %s is not set", name)
	}
	return v, err
}

// Judge says what an answer that came whole means, by the table of contract 6: 2xx and 4xx are
// an end, but for 408, 206, and a 409 that speaks of another request.
func Judge(status int, contentType string, body []byte, secrets outbound.Masker) Outcome {
	unknown := func(why string) Outcome {
		return Outcome{Unknown: why, Said: secrets.Begin(body, true), Status: status}
	}
	switch {
	case status == http.StatusPartialContent:
		return unknown("the upstream answered 206, a part that nobody asked for")
	case status >= 200 && status < 300:
		a, err := Success(status, body, secrets)
		if err != nil {
			return unknown(err.Error())
		}
		return Outcome{Answer: a}
	case status == http.StatusConflict && request.SpeaksOfAnother(string(body)):
		return unknown("the upstream answered 409 and speaks of another request under the key")
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return Outcome{Answer: &Answer{Status: status, ContentType: contentType, Body: []byte(secrets.Text(string(body)))}}
	case status >= 300 && status < 400:
		return unknown(fmt.Sprintf("the upstream answered %d, and redirects aren't followed", status))
	default:
		return unknown(fmt.Sprintf("the upstream answered %d, which does not say what happened", status))
	}
}

// Success is a 2xx as the runtime takes it: JSON, nothing at all, or the text of what isn't JSON.
func Success(status int, body []byte, secrets outbound.Masker) (*Answer, error) {
	text := trim(body)
	switch {
	case len(text) == 0:
		return &Answer{Status: status}, nil
	case !utf8.Valid(text):
		return nil, fmt.Errorf("the upstream answered %d with neither JSON nor UTF-8", status)
	case exactjson.Check(text) == nil:
		masked := []byte(secrets.JSON(string(text)))
		if exactjson.Check(masked) != nil { // two keys became one
			return nil, fmt.Errorf("the upstream's answer repeats a secret in a way that can't be masked")
		}
		return &Answer{Status: status, ContentType: "application/json", Body: masked}, nil
	}
	return &Answer{Status: status, ContentType: "application/json", Body: []byte(TextValue(secrets.Text(string(body))).Raw())}, nil
}

// TextValue is what stands for a text that is no JSON.
func TextValue(text string) countersign.Value {
	return countersign.ObjectValue(map[string]countersign.Value{"text": countersign.String(text)})
}
