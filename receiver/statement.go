package receiver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Known is what a memory of keys knows of one (contract 12.6).
type Known string

// What is known of a key.
const (
	KnownDone       Known = "DONE"        // it has a kept answer, whatever its status
	KnownInProgress Known = "IN_PROGRESS" // a request under it is at work in a living process
	KnownUnknown    Known = "UNKNOWN"     // it was begun, and ended without a kept answer
	KnownUnseen     Known = "UNSEEN"      // it is not in the memory
	KnownWithdrawn  Known = "WITHDRAWN"   // it is not, and a call under it gets 410 from now on
)

// Statement is the answer to a question about a key.
type Statement struct {
	Key    string
	State  Known
	Answer Answer // of DONE
	At     time.Time
	Since  time.Time // from this time on the memory has forgotten nothing
}

// JSON is the statement as it is sent. The body of a kept answer that is JSON stands in it byte
// for byte, as body; another one as text.
func (s Statement) JSON() []byte {
	out := append([]byte(`{"key":`), quoted(s.Key)...)
	out = append(append(out, `,"state":`...), quoted(string(s.State))...)
	if s.State == KnownDone {
		out = strconv.AppendInt(append(out, `,"statusCode":`...), int64(s.Answer.Status), 10)
		switch body := s.Answer.Body; {
		case len(body) == 0:
		case utf8.Valid(body) && json.Valid(body):
			out = append(append(out, `,"body":`...), body...)
		default:
			out = append(append(out, `,"text":`...), quoted(string(body))...)
		}
	}
	out = append(append(out, `,"at":`...), quoted(instant(s.At))...)
	return append(append(append(out, `,"since":`...), quoted(instant(s.Since))...), '}')
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// quoted is a JSON string that escapes only what it must, as the kits in other languages do.
func quoted(text string) []byte {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	out := []byte{'"'}
	for _, r := range text { // what isn't UTF-8 becomes U+FFFD
		switch escape, is := short[r]; {
		case is:
			out = append(out, escape...)
		case r < ' ':
			out = append(out, `\u00`...)
			out = append(out, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&0xf])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// write answers with the statement, once.
func (s Statement) write(w http.ResponseWriter) {
	Answer{http.StatusOK, "application/json", s.JSON()}.write(w)
}

// known says of an entry what became of its key.
func (rc *Receiver) known(e Entry, now time.Time) Known {
	switch {
	case e.State == Withdrawn:
		return KnownWithdrawn
	case e.State == Finished:
		return KnownDone
	case rc.inProgress(e.Claim, now):
		return KnownInProgress
	default:
		return KnownUnknown
	}
}

// atWork reports a request under the key in this process.
func (rc *Receiver) atWork(key string) (found bool) {
	rc.running.Range(func(_, running any) bool {
		found = running == key
		return !found
	})
	return found
}

// question is what is asked about a key, by a request below Config.Settlement.
type question struct {
	key      string
	withdraw bool
	problem  *problem // of a request that asks nothing
	allow    string   // the method that would, of one with another
}

// question reads a request. It returns false for one that isn't below Config.Settlement.
func (rc *Receiver) question(r *http.Request) (question, bool) {
	rest, below := strings.CutPrefix(r.URL.Path, rc.cfg.Settlement+"/")
	if rc.cfg.Settlement == "" || !below {
		return question{}, false
	}
	key, more, deeper := strings.Cut(rest, "/")
	q := question{key: key, withdraw: deeper && more == "withdraw", allow: http.MethodGet}
	if q.withdraw {
		q.allow = http.MethodPost
	}
	switch sent := r.URL.Query()["sent"]; {
	case key == "" || deeper && !q.withdraw:
		q.problem = &problem{http.StatusNotFound, "not_found", "below this path there are {key} and {key}/withdraw"}
	case r.Method != q.allow:
		q.problem = &problem{http.StatusMethodNotAllowed, "method_not_allowed", "a question is a GET, a withdrawal a POST"}
	case !isKey(key):
		q.problem = &badKey
	case len(sent) > 1 || len(sent) == 1 && !isSeconds(sent[0]):
		q.problem = &problem{http.StatusBadRequest, "invalid_request", "sent is the time of the first sending, in Unix seconds"}
	}
	return q, true
}

func isSeconds(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
}
