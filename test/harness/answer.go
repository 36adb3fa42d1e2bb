package harness

import (
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Answer is an answer of a server.
type Answer struct {
	JSON   // the body; absent if it is not JSON
	Status int
	Header http.Header
	Raw    string

	method, path string
	sent         []byte
}

func (a *Answer) String() string {
	const shown = 800
	return fmt.Sprintf("%s %s: %d %.*s", a.method, a.path, a.Status, shown, a.Raw)
}

func (a *Answer) contentType() string {
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return kind
}

// OK checks that a request succeeded and returns the body.
func (a *Answer) OK(t testing.TB) JSON {
	t.Helper()
	if a.Status < 200 || a.Status > 299 {
		t.Fatalf("%s; expected success", a)
	}
	return a.JSON
}

// Refused checks that a request was refused with this code and the code's status, and that the message
// contains each part. It returns the message.
func (a *Answer) Refused(t testing.TB, code string, parts ...string) string {
	t.Helper()
	if got := a.At("error").Text(); got != code || a.Status != Codes[code] {
		t.Errorf("%s; expected %d %s", a, Codes[code], code)
	}
	message := a.At("message").Text()
	contains(t, a.method+" "+a.path+": the message", message, parts)
	return message
}

// Codes is the table of contract 2: the status of every code.
var Codes = map[string]int{
	"invalid_json": 400, "invalid_request": 400, "idempotency_key_required": 400, "origin_not_allowed": 400,
	"credential_not_allowed": 400, "expectation_required": 400,
	"unauthenticated": 401,
	"role_required":   403, "project_scope": 403, "self_approval": 403, "csrf": 403, "assertion_required": 403, "assertion_invalid": 403,
	"not_found":          404,
	"method_not_allowed": 405,
	"revision_conflict":  409, "idempotency_conflict": 409, "sequence_conflict": 409, "manifest_conflict": 409,
	"state_conflict": 409, "model_invalid": 409, "project_in_use": 409, "quota_exceeded": 409, "change_proposed": 409, "project_disabled": 409, "plan_invalid": 409,
	"health_check_required": 409, "agent_not_admitted": 409, "approval_expired": 409, "expectation_not_met": 409, "drift": 409,
	"payload_too_large": 413,
	"internal":          500,
	"capacity":          503, "unavailable": 503,
}

// judge checks what must be true of every answer.
func (s *Server) judge(a *Answer) {
	s.t.Helper()
	if err := s.fault(a); err != nil {
		s.t.Errorf("%s\n%v", a, err)
	}
	if secret := a.At("token").Text(); a.Status == http.StatusCreated && secret != "" {
		s.Keep(secret) // shown this once
	}
}

func (s *Server) fault(a *Answer) error {
	id := a.Header.Get("X-Request-Id")
	switch {
	case a.Status == http.StatusInternalServerError && !s.faulty:
		return fmt.Errorf("an internal error without a fault; the log:\n%s", s.log())
	case s.leaked(a.Raw) != "":
		return fmt.Errorf("the answer holds the secret %q", s.leaked(a.Raw))
	case !requestID.MatchString(id):
		return fmt.Errorf("X-Request-Id is %q", id)
	case a.Status >= 300 && a.Status < 400:
		return fmt.Errorf("the API redirects to %q", a.Header.Get("Location"))
	case a.method == http.MethodHead && a.Raw != "":
		return fmt.Errorf("HEAD was answered with a body")
	case a.Status >= 400 && a.method != http.MethodHead:
		if err := a.errorBody(id); err != nil {
			return err
		}
	}
	return s.checkDocument(a)
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// errorBody checks that the body is exactly {error, message, requestId}, with a known code, the status
// of that code, and the headers that belong to it.
func (a *Answer) errorBody(id string) error {
	keys := a.Keys()
	slices.Sort(keys)
	code := a.At("error").Text()
	switch {
	case !slices.Equal(keys, []string{"error", "message", "requestId"}):
		return fmt.Errorf("the Error body has the fields %v", keys)
	case Codes[code] != a.Status:
		return fmt.Errorf("the code %q belongs to the status %d", code, Codes[code])
	case a.At("requestId").Text() != id:
		return fmt.Errorf("requestId is not that of the header, %q", id)
	case a.At("message").Text() == "":
		return fmt.Errorf("there is no message")
	case a.Status == 401 && a.Header.Get("WWW-Authenticate") != "Bearer":
		return fmt.Errorf("WWW-Authenticate is %q", a.Header.Get("WWW-Authenticate"))
	case a.Status == 503 && a.Header.Get("Retry-After") == "":
		return fmt.Errorf("there is no Retry-After")
	case a.Status == 405 && a.Header.Get("Allow") == "":
		return fmt.Errorf("there is no Allow")
	}
	return nil
}

// withoutRequestID is the body without the request id, which errorBody checks.
func (a *Answer) withoutRequestID() string {
	return strings.Replace(a.Raw, a.Header.Get("X-Request-Id"), "", 1)
}

// checkDocument validates an answer against the server's OpenAPI document.
func (s *Server) checkDocument(a *Answer) error {
	path, _, _ := strings.Cut(a.path, "?")
	o := s.document.find(a.method, path)
	if o == nil {
		return nil // the document describes no such operation
	}
	cover(s.document, o.ID, a.Status)
	if a.method == http.MethodHead {
		return nil
	}
	if err := s.document.checkAnswer(o, a.Status, a.contentType(), a.JSON, a.withoutRequestID()); err != nil {
		return err
	}
	if body, err := Parse(a.sent); err == nil && a.Status < 300 {
		if err := s.document.checkRequest(o, body); err != nil {
			return fmt.Errorf("accepted, though the document's schema of the request refuses it: %w", err)
		}
	}
	return nil
}
