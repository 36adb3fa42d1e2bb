package sample

import (
	"encoding/json"
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

// answer answers a request: it verifies the signature, looks for an earlier answer under the
// key, and else calls the operation.
func (s *Shop) answer(e *Entry) {
	earlier, known := s.first[e.Key]
	switch {
	case e.Signature != SignatureValid:
		e.say(refuse(http.StatusUnauthorized, "the signature is refused: "+e.Signature))
	case e.Method == http.MethodGet:
		e.say(s.route(*e))
	case e.Key == "":
		e.say(refuse(http.StatusBadRequest, "send an idempotency key with whatever changes something"))
	case !known:
		e.say(s.route(*e))
	case s.entries[earlier].samePayload(*e):
		e.Status, e.Answer, e.Replayed = s.entries[earlier].Status, s.entries[earlier].Answer, true
	default:
		e.say(refuse(http.StatusConflict, "this idempotency key came with another payload"))
	}
}

func (e *Entry) say(r reply) {
	e.Status = r.status
	e.Answer, _ = countersign.Marshal(r.body) // never fails for plain data
}

// routes has the shop's operations; id is the second segment of the path.
var routes = map[string]func(s *Shop, e Entry, id string) reply{
	"GET /health":              (*Shop).health,
	"GET /orders/{id}":         (*Shop).readOrder,
	"GET /orders/{id}/notice":  (*Shop).readNotice,
	"PUT /orders/{id}/notice":  (*Shop).putNotice,
	"GET /refunds":             (*Shop).listRefunds,
	"POST /refunds":            (*Shop).refund,
	"GET /returns/{id}":        (*Shop).readReturn,
	"POST /returns/{id}/close": (*Shop).closeReturn,
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
