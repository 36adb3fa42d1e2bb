package sample

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
)

// reply is the shop's answer to a request.
type reply struct {
	status int
	body   any
}

type problem struct {
	Error string `json:"error"`
}

func refuse(status int, why string) reply { return reply{status, problem{why}} }

const contentType = "application/json"

// held is an answer that isn't sent before its request is in the log.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) WriteHeader(status int)      { h.status = status }
func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }

// answer has the receiver kit answer a request: by the operation, by an earlier answer under the
// key, or by what became of a key.
func (s *Shop) answer(r *http.Request, e *Entry) *held {
	h := &held{header: http.Header{}, status: http.StatusOK}
	r.Body = io.NopCloser(strings.NewReader(e.Body))
	s.kit.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		is := s.route(*e)
		body, _ := countersign.Marshal(is.body) // never fails for plain data
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(is.status)
		_, _ = w.Write(body)
	})).ServeHTTP(h, r)
	e.Status, e.Mark, e.Replayed = h.status, s.memory.take(), h.header.Get("Idempotency-Replayed") == "true"
	if h.body.Len() > 0 {
		e.Answer = bytes.Clone(h.body.Bytes())
	}
	return h
}

// routes has the shop's operations; id is the second segment of the path.
var routes = map[string]func(s *Shop, e Entry, id string) reply{
	"GET /health":                 (*Shop).health,
	"GET /orders/{id}":            (*Shop).readOrder,
	"GET /orders/{id}/notice":     (*Shop).readNotice,
	"PUT /orders/{id}/notice":     (*Shop).putNotice,
	"GET /refunds":                (*Shop).listRefunds,
	"POST /refunds":               (*Shop).refund,
	"GET /returns/{id}":           (*Shop).readReturn,
	"POST /returns/{id}/close":    (*Shop).closeReturn,
	"GET /accounts/{id}":          (*Shop).readAccount,
	"GET /accounts/{id}/payouts":  (*Shop).listPayouts,
	"POST /accounts/{id}/payouts": (*Shop).payOut,
}

func (s *Shop) route(e Entry) reply {
	path, _, _ := strings.Cut(e.Path, "?")
	segments := strings.Split(path, "/")
	id := ""
	if len(segments) > 2 {
		id, segments[2] = segments[2], "{id}"
	}
	operation, found := routes[e.Method+" "+strings.Join(segments, "/")]
	if !found {
		return refuse(http.StatusNotFound, "the shop has no "+e.Method+" "+path)
	}
	return operation(s, e, id)
}

func (s *Shop) health(Entry, string) reply {
	return reply{http.StatusOK, map[string]string{"status": "open"}}
}

// queryOf returns one field of the query.
func queryOf(e Entry, name string) string {
	_, query, _ := strings.Cut(e.Path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return values.Get(name)
}

// last decodes the answer to the newest request that changed the resource at this path into
// into; it leaves into unchanged if there was none.
func (s *Shop) last(method, path string, into any) {
	for i := len(s.entries) - 1; i >= 0; i-- {
		if e := s.entries[i]; e.Acted() && e.Method == method && e.Path == path {
			_ = json.Unmarshal(e.Answer, into) // never fails for the shop's own answer
			return
		}
	}
}
