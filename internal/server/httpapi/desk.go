package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/control"
)

// desk streams what waits for the caller by server-sent events (contract 12.9): `waiting` at once
// and when it changes, `changed` for approvals and runs in scope, comments as keep-alive. It ends
// with the right to see, when the caller's rights become others, and with the service.
func (a *API) desk(c *call, w http.ResponseWriter) error {
	watched, err := a.control.WatchDesk(c.actor)
	if err != nil {
		return err
	}
	defer watched.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	s := &eventStream{w: w, flush: http.NewResponseController(w)}
	if c.r.Method == http.MethodHead || s.flush.Flush() != nil {
		return nil
	}
	a.followDesk(c, s, watched)
	return nil
}

func (a *API) followDesk(c *call, s *eventStream, watched *control.DeskStream) {
	tick, check := time.NewTicker(a.cfg.KeepAlive), time.NewTicker(authEvery)
	defer tick.Stop()
	defer check.Stop()
	for {
		select {
		case <-watched.Moved:
			if !a.mayFollow(c, watched) || !s.desk(watched) {
				return
			}
		case <-check.C:
			if !a.mayFollow(c, watched) {
				return
			}
		case <-tick.C:
			if !s.send(": still here\n\n") {
				return
			}
		case <-c.ctx.Done():
			return
		case <-a.stop:
			return
		}
	}
}

// mayFollow reports that the caller still has the rights that the stream began with.
func (a *API) mayFollow(c *call, watched *control.DeskStream) bool {
	return a.authenticate(c) == nil && watched.StillOf(c.actor)
}

// desk sends what is new; false if the stream is over.
func (s *eventStream) desk(watched *control.DeskStream) bool {
	waiting, changed, ended := watched.Take()
	for _, one := range changed {
		if !s.named("changed", one) {
			return false
		}
	}
	return (waiting == nil || s.named("waiting", waiting)) && !ended
}

func (s *eventStream) named(name string, data any) bool {
	doc, err := json.Marshal(data)
	return err == nil && s.send(fmt.Sprintf("event: %s\ndata: %s\n\n", name, doc))
}
