package runs

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

// How often and how much a viewer is told.
const (
	LiveEvery   = 250 * time.Millisecond // minimum interval between events to a viewer
	liveBytes   = 128 << 10              // per viewer and second: large plans are sent less often
	liveComment = 15 * time.Second
	liveWrite   = 10 * time.Second // write timeout
)

// liveRun is one viewer of a run.
type liveRun struct {
	*web.Request
	flush  *http.ResponseController
	plan   *countersign.Plan
	key    viewKey
	shared *sharedView
	from   int64   // revision of the viewer's page
	sent   []piece // the pieces that the viewer has
	rev    int64
	ready  time.Time // earliest time of the next event
}

// runLive streams a run: for each change the pieces of the page that differ, until the
// run, session, service or connection ends.
func runLive(v *web.Request, views *Views) error {
	watched, err := v.Control.Watch(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return err
	}
	defer watched.Close()
	l, err := openLive(v, watched.Now.ID)
	if err != nil {
		return err
	}
	l.shared = views.join(l.key)
	defer views.leave(l.key)
	h := v.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	v.W.WriteHeader(http.StatusOK)
	if v.R.Method != http.MethodHead && l.begin(&watched.Now) {
		l.follow(watched.Changes.C)
	}
	return nil
}

func openLive(v *web.Request, id string) (*liveRun, error) {
	whole, err := v.Control.Run(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil, err
	}
	b, err := rightsOn(v, &whole)
	if err != nil {
		return nil, err
	}
	from, err := strconv.ParseInt(v.Query("from"), 10, 64)
	if err != nil {
		from = 0 // send everything
	}
	return &liveRun{
		Request: v, flush: http.NewResponseController(v.W), plan: whole.PlanSnapshot, from: from,
		key: keyOf(v.Actor, &whole, b, v.Query("step")),
	}, nil
}

// begin brings the viewer's page up to date; false if nothing will follow.
func (l *liveRun) begin(now *countersign.Run) bool {
	if now.Revision > l.from || now.Status.IsTerminal() {
		return l.show(now)
	}
	pieces, err := l.pieces(now)
	l.sent, l.rev = pieces.list, pieces.revision
	return err == nil && l.send(": here\n\n")
}

// follow sends changes. Changes that come faster than the limit are merged; the last
// state always arrives.
func (l *liveRun) follow(changes <-chan *countersign.Run) {
	tick := time.NewTicker(liveComment)
	defer tick.Stop()
	var newest *countersign.Run
	var due <-chan time.Time
	for {
		select {
		case newest = <-changes:
			if due == nil {
				due = time.After(time.Until(l.ready))
			}
		case <-due:
			if due = nil; !l.stillMay() || !l.show(newest) {
				return
			}
		case <-tick.C:
			if !l.stillMay() || !l.send(": still here\n\n") {
				return
			}
		case <-l.R.Context().Done():
			return
		case <-l.Stopping:
			return
		}
	}
}

// stillMay checks the session again. If its rights have changed, the stream ends; the
// viewer reconnects with the new rights.
func (l *liveRun) stillMay() bool {
	was := l.Actor.Principal
	if l.Recognize() != nil {
		return false
	}
	is := l.Actor.Principal
	return is.Tenant == was.Tenant && slices.Equal(is.Roles, was.Roles) && is.Limited() == was.Limited() && slices.Equal(is.Projects, was.Projects)
}

// show sends the changed pieces; false if the stream is over.
func (l *liveRun) show(r *countersign.Run) bool {
	if r.Revision <= l.rev {
		return true
	}
	now, err := l.pieces(r)
	if err != nil {
		if l.R.Context().Err() == nil {
			l.Config.Log.ErrorContext(l.R.Context(), "live page not written", "error", err)
		}
		return false
	}
	event := eventOf(now, l.sent)
	l.sent, l.rev = now.list, now.revision
	l.ready = time.Now().Add(max(LiveEvery, time.Duration(len(event))*time.Second/liveBytes))
	if now.ended {
		event += "event: end\ndata: the run has ended\n\n"
	}
	return l.send(event) && !now.ended
}

// pieces are those of this revision or a newer one, rendered once for all viewers with
// the same key.
func (l *liveRun) pieces(r *countersign.Run) (renderedRun, error) {
	return l.shared.at(r.Revision, func() (renderedRun, error) {
		seen, err := l.Control.Masked(l.R.Context(), l.Actor, r)
		if err != nil {
			return renderedRun{}, err
		}
		return l.write(&seen)
	})
}

// write renders every piece of a run's page.
func (l *liveRun) write(r *countersign.Run) (renderedRun, error) {
	d := runDataOf(r, l.plan, l.key.rights(l.Config.MaxActive), l.key.step, l.Config.Now())
	trail, err := trailOf(l.Request, r)
	if err != nil {
		return renderedRun{}, err
	}
	d.Trail = trail
	if err := addApproval(l.Request, &d.Chosen); err != nil {
		return renderedRun{}, err
	}
	now := *l.Request
	now.Now = l.Config.Now()
	f := web.Frame{Page: &web.Page{Name: "run", Data: d}, Request: &now}
	out := renderedRun{revision: r.Revision, ended: r.Status.IsTerminal()}
	add := func(id, block string, data any) error {
		var b bytes.Buffer
		err := l.Pages.Execute(&b, "run", block, data)
		out.list = append(out.list, piece{id, b.String()})
		return err
	}
	for _, id := range []string{"run-title", "run-actions", "run-at", "run-call", "run-graph", "run-counts", "step", "trail"} {
		if err := add(id, id, f); err != nil {
			return out, err
		}
	}
	for _, line := range d.Steps {
		if err := add(line.ID, "run-line", line); err != nil {
			return out, err
		}
	}
	return out, nil
}

// eventOf is the event that updates a page with the pieces sent to now.
func eventOf(now renderedRun, sent []piece) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %d\n", now.revision)
	for i, p := range now.list {
		if len(sent) == len(now.list) && sent[i] == p {
			continue
		}
		b.WriteString(`data: <hx-partial hx-target="#` + p.ID + `" hx-swap="outerMorph ignoreTitle:true">` + "\n")
		for line := range strings.Lines(p.HTML) {
			b.WriteString("data: " + strings.TrimRight(line, "\r\n") + "\n")
		}
		b.WriteString("data: </hx-partial>\n")
	}
	b.WriteString("\n")
	return b.String()
}

func (l *liveRun) send(text string) bool {
	_ = l.flush.SetWriteDeadline(time.Now().Add(liveWrite)) // if supported
	if _, err := l.W.Write([]byte(text)); err != nil {
		return false
	}
	return l.flush.Flush() == nil
}
