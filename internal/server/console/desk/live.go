package desk

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/web"
)

// How long a stream is silent, how often its rights are looked at, and how long one write may take.
const (
	liveComment = 15 * time.Second
	liveCheck   = 5 * time.Second
	liveWrite   = 10 * time.Second
)

// events streams what waits for the visitor, and which approvals and runs change, as the API's
// stream does. Pages keep their counts by it. It ends with the session, its rights and the service.
func events(v *web.Request) error {
	watched, err := v.Control.WatchDesk(v.Actor)
	if err != nil {
		return err
	}
	defer watched.Close()
	h := v.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	v.W.WriteHeader(http.StatusOK)
	s := stream{v, http.NewResponseController(v.W)}
	if v.R.Method != http.MethodHead && s.send(": here\n\n") {
		s.follow(watched)
	}
	return nil
}

type stream struct {
	*web.Request
	flush *http.ResponseController
}

func (s stream) follow(watched *control.DeskStream) {
	comment, check := time.NewTicker(liveComment), time.NewTicker(liveCheck)
	defer comment.Stop()
	defer check.Stop()
	for {
		select {
		case <-watched.Moved:
			if !s.still(watched) || !s.tell(watched) {
				return
			}
		case <-check.C:
			if !s.still(watched) {
				return
			}
		case <-comment.C:
			if !s.send(": still here\n\n") {
				return
			}
		case <-s.R.Context().Done():
			return
		case <-s.Stopping:
			return
		}
	}
}

// still reports that the visitor has the rights that the stream began with.
func (s stream) still(watched *control.DeskStream) bool {
	return s.Recognize() == nil && watched.StillOf(s.Actor)
}

// tell sends what is new; false if nothing more comes.
func (s stream) tell(watched *control.DeskStream) bool {
	waiting, changed, ended := watched.Take()
	for _, one := range changed {
		if !s.named("changed", one) {
			return false
		}
	}
	return (waiting == nil || s.named("waiting", waiting)) && !ended
}

func (s stream) named(name string, data any) bool {
	doc, err := json.Marshal(data)
	return err == nil && s.send("event: "+name+"\ndata: "+string(doc)+"\n\n")
}

func (s stream) send(text string) bool {
	_ = s.flush.SetWriteDeadline(time.Now().Add(liveWrite)) // if supported
	if _, err := s.W.Write([]byte(text)); err != nil {
		return false
	}
	return s.flush.Flush() == nil
}
