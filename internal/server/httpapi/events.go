package httpapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// events streams a run by server-sent events (contract 6): its current state at once,
// then one `run` event per change in list form, with comments as keep-alive, until the
// run, the permission, the token or the service ends. Last-Event-ID needs no history: a
// reconnecting client gets the current state.
func (a *API) events(c *call, w http.ResponseWriter) error {
	watched, err := a.control.Watch(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	defer watched.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	s := &eventStream{w: w, flush: http.NewResponseController(w), asked: watched.Now.RequestedByName}
	if !s.run(watched.Now) {
		return nil
	}
	a.follow(c, s, watched.Changes.C)
	return nil
}

// authEvery is how soon a stream ends after its token or session has.
const authEvery = time.Second

// follow sends changes until the stream ends.
func (a *API) follow(c *call, s *eventStream, changes <-chan *countersign.Run) {
	tick, check := time.NewTicker(a.cfg.KeepAlive), time.NewTicker(authEvery)
	defer tick.Stop()
	defer check.Stop()
	for {
		select {
		case r := <-changes:
			if a.authenticate(c) != nil { // revoked or expired
				return
			}
			seen, err := a.control.Masked(c.ctx, c.actor, r)
			if err != nil || !s.run(seen) {
				return
			}
		case <-check.C:
			if a.authenticate(c) != nil {
				return
			}
		case <-tick.C:
			if a.authenticate(c) != nil || a.control.MayWatch(c.ctx, c.actor, c.id) != nil || !s.send(": still here\n\n") {
				return
			}
		case <-c.ctx.Done():
			return
		case <-a.stop:
			return
		}
	}
}

// eventStream writes events; by the revision it skips changes that the first state
// already included.
type eventStream struct {
	w        http.ResponseWriter
	flush    *http.ResponseController
	revision int64
	asked    string // the requester's name, which changes lack
}

// run sends one state; false if the stream is over.
func (s *eventStream) run(r countersign.Run) bool {
	if r.Revision <= s.revision {
		return true
	}
	s.revision, r.RequestedByName = r.Revision, s.asked
	doc, err := bounded(control.ListedRun(r))
	if err != nil {
		return false
	}
	return s.send(fmt.Sprintf("id: %d\nevent: run\ndata: %s\n\n", r.Revision, doc)) && !r.Status.IsTerminal()
}

// writeBound is the write timeout of streams.
const writeBound = 10 * time.Second

func (s *eventStream) send(text string) bool {
	_ = s.flush.SetWriteDeadline(time.Now().Add(writeBound)) // if supported
	if _, err := s.w.Write([]byte(text)); err != nil {
		return false
	}
	return s.flush.Flush() == nil
}
