package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// route is one operation, as the handler, the access rule and the OpenAPI document use
// it.
type route struct {
	method, path string
	op           access.Operation // "" is public
	id           string           // operationId
	idName       string           // what the document calls the {id}, where the specification names it otherwise
	summary      string
	tag          string
	query        []param
	needsKey     bool         // header Idempotency-Key
	body         reflect.Type // nil: none
	bodyOptional bool         // it may be left out
	status       int
	answer       reflect.Type // nil: a free-form object
	handle       handler
	stream       func(c *call, w http.ResponseWriter) error // instead of handle
}

type handler func(c *call) (any, error)

// call is one request of a route.
type call struct {
	ctx     context.Context
	actor   control.Actor
	secret  string // of its session
	partial bool   // the body isn't read yet
	r       *http.Request
	w       http.ResponseWriter
	id      string // the {id} of the path
	door    string // the path of an agent's door, "" for the API
	query   map[string]string
	after   *int64
	list    control.List
	key     string // Idempotency-Key
	body    any    // *T of the route's body type
}

// endpoint serves a route: 401, 403 role, 413, 400 and then the use case, in this order
// (contract 2).
func (a *API) endpoint(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		telemetry.Route(w, rt.method+" "+rt.path)
		c := &call{ctx: r.Context(), r: r, w: w, id: r.PathValue("id")}
		data, err := a.admit(c, rt)
		if err == nil && rt.stream != nil {
			if err = readDocument(c, rt, data); err == nil {
				err = rt.stream(c, w)
			}
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		if rt.stream != nil {
			return
		}
		out, err := a.serve(rt, c, data)
		if rt.status == http.StatusAccepted {
			a.countStart(c, err)
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		a.write(w, r, rt.status, out)
	})
}

// named puts beside each principal of an answer what it is called.
func (a *API) named(c *call, out any) (any, error) {
	if l, is := out.(interface {
		encoded(ctx context.Context, s *control.Service, a control.Actor) (any, error)
	}); is {
		return l.encoded(c.ctx, a.control, c.actor)
	}
	return control.Named(c.ctx, a.control, c.actor, out), nil
}

// serve is the answer to a request, whose body is large or not.
func (a *API) serve(rt route, c *call, data []byte) (out any, err error) {
	busy := a.bodies.do(c.ctx, c.actor.Tenant, len(data), func() {
		if err = readDocument(c, rt, data); err == nil {
			out, err = a.answer(rt, c)
		}
	})
	return out, cmp.Or(busy, err)
}

// admit returns the body of a request that may be made.
func (a *API) admit(c *call, rt route) ([]byte, error) {
	look := func() error { return a.recognize(c, rt) }
	most := countersign.MaxBodyBytes
	if rt.op == "" {
		look, most = func() error { return nil }, countersign.MaxOpenBytes
	}
	data, err := c.read(look, most)
	if err != nil {
		return nil, err
	}
	return data, readParams(c, rt)
}

// read reads the body for whoever may ask at all, and looks again once it is there: it may take
// minutes, and a request is judged as of when it is whole. What is wrong with the body is said
// after that (contract 2).
func (c *call) read(look func() error, most int) ([]byte, error) {
	if c.r.Body == http.NoBody {
		return nil, look()
	}
	c.partial = true
	if err := look(); err != nil {
		return nil, err
	}
	data, err := readBody(c.r, most)
	c.partial = false
	return data, cmp.Or(look(), err)
}

// recognize authenticates and authorizes.
func (a *API) recognize(c *call, rt route) error {
	if err := a.authenticate(c); err != nil {
		return err
	}
	if err := a.sameSite(c); err != nil {
		return a.control.Refuse(c.ctx, c.actor, rt.op, subjectOf(rt, c), err)
	}
	return a.control.Authorize(c.ctx, c.actor, rt.op, subjectOf(rt, c))
}

// subjectOf is what a request is about, for the audit log.
func subjectOf(rt route, c *call) string {
	return access.Subject(c.actor.Principal, rt.op, c.r.PathValue)
}

// authenticate uses the bearer token of the Authorization header, or without such a
// header the session cookie. An invalid header never falls back to the cookie.
func (a *API) authenticate(c *call) error {
	if len(c.r.Header.Values("Authorization")) == 0 && len(a.cookies(c.r)) > 0 && !tokenInQuery(c.r) {
		return a.resume(c)
	}
	return a.bearer(c)
}

func tokenInQuery(r *http.Request) bool {
	q := r.URL.Query()
	return q.Has("token") || q.Has("access_token")
}

// bearer authenticates by the token of the one Authorization header.
func (a *API) bearer(c *call) error {
	refuse := func(what string) error {
		return countersign.Errorf(countersign.CodeUnauthenticated, "%s; send Authorization: Bearer <token>", what)
	}
	headers := c.r.Header.Values("Authorization")
	switch {
	case tokenInQuery(c.r):
		return refuse("a token has no place in the query, where logs keep it")
	case len(headers) == 0:
		return refuse("there is no Authorization header")
	case len(headers) > 1:
		return refuse("there are two Authorization headers")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t,") {
		return refuse("the Authorization header is no bearer token")
	}
	find := a.control.AuthenticateAt
	if c.partial {
		find = a.control.Expect
	}
	p, err := find(c.ctx, token, c.door)
	c.actor = control.Actor{Principal: p, RequestID: requestID(c.r), Door: countersign.DoorAPI}
	telemetry.By(c.ctx, p.Tenant)
	return err
}

// readBody reads at most the given number of bytes; a larger body is refused.
func readBody(r *http.Request, most int) ([]byte, error) {
	tooLarge := countersign.Errorf(countersign.CodePayloadTooLarge, "the body is larger than %d bytes", most)
	if r.ContentLength > int64(most) {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	if err != nil {
		return nil, countersign.Errorf(countersign.CodeInvalidRequest, "the body could not be read to its end")
	}
	if len(data) > most {
		return nil, tooLarge
	}
	return data, nil
}

// readParams reads path, query and header, and reports every problem of path and query.
func readParams(c *call, rt route) error {
	problems := pathProblems(c, rt)
	problems = append(problems, c.readQuery(rt)...)
	if rt.needsKey {
		key, err := idempotencyKey(c.r)
		if err != nil {
			return err
		}
		c.key = key
	}
	if len(problems) > 0 {
		return countersign.Refusal(countersign.CodeInvalidRequest, problems...)
	}
	return nil
}

// readDocument decodes the body, and reports every problem of it.
func readDocument(c *call, rt route, data []byte) error {
	kind := rt.body
	if kind == nil {
		// Content has no meaning in a GET or DELETE (RFC 9110, 9.3), and null is none.
		if len(data) == 0 || rt.method == http.MethodGet || rt.method == http.MethodDelete || string(bytes.TrimSpace(data)) == "null" {
			return nil
		}
		kind = noFields
	}
	into := reflect.New(kind)
	c.body = into.Interface()
	if rt.bodyOptional && len(data) == 0 {
		return nil
	}
	if err := isJSON(c.r); err != nil {
		return err
	}
	if encoding := c.r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return countersign.Errorf(countersign.CodeInvalidRequest, "Content-Encoding: send the body as it is; a compressed one is not read")
	}
	return exactjson.Decode(data, c.body)
}

// noFields is what a body may hold where an operation takes none: an empty object, which
// some clients send with every POST, as others send null. Content is refused, so that nobody takes what they
// sent for read, such as a document sent to the validation of the stored one.
var noFields = typeOf[struct{}]()

func isJSON(r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return countersign.Errorf(countersign.CodeInvalidRequest, "Content-Type: send application/json")
	}
	return nil
}

func pathProblems(c *call, rt route) []countersign.Problem {
	if !strings.Contains(rt.path, "{id}") || countersign.ValidID(c.id) {
		return nil
	}
	return []countersign.Problem{{Path: "id", Message: idRule}}
}

// idRule says what an id is, where one that is none was given; idPattern says it to programs.
const (
	idRule    = "an id is 1 to 128 letters, digits, dots, underscores and hyphens, a letter or digit first"
	idPattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`
)

func idempotencyKey(r *http.Request) (string, error) {
	keys := r.Header.Values("Idempotency-Key")
	switch {
	case len(keys) == 0 || len(keys) == 1 && keys[0] == "":
		return "", countersign.Errorf(countersign.CodeIdempotencyKeyRequired, "send an Idempotency-Key header: repeating it finds the same run")
	case len(keys) > 1:
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "Idempotency-Key: send it once")
	}
	if !countersign.ValidIdempotencyKey(keys[0]) {
		return "", countersign.Errorf(countersign.CodeInvalidRequest, "Idempotency-Key: it is 1 to %d visible ASCII characters", countersign.MaxKeyLength)
	}
	return keys[0], nil
}

func bodyOf[T any](c *call) T { return *c.body.(*T) }
