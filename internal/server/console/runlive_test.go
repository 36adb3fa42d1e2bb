package console

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/runs"
)

// stream is a live page that somebody has open.
type stream struct {
	t     *testing.T
	res   *http.Response
	lines *bufio.Scanner
	leave context.CancelFunc
}

func (g *guest) follow(t *testing.T, path string) *stream {
	t.Helper()
	ctx, leave := context.WithCancel(nowhere)
	res, err := g.do(ctx, http.MethodGet, path, nil, "Accept", "text/html, text/event-stream")
	g.w.must(err)
	t.Cleanup(func() { leave(); _ = res.Body.Close() })
	s := &stream{t, res, bufio.NewScanner(res.Body), leave}
	s.lines.Buffer(nil, 4<<20)
	return s
}

// next is the text of the next event; "" at the stream's end. Comments are left
// out.
func (s *stream) next() string {
	var b strings.Builder
	for s.lines.Scan() {
		switch line := s.lines.Text(); {
		case line != "" && !strings.HasPrefix(line, ":"):
			b.WriteString(line + "\n")
		case line == "" && b.Len() > 0:
			return b.String()
		}
	}
	return ""
}

// until reads events up to one that says this, and gives all.
func (s *stream) until(word string) (all string) {
	s.t.Helper()
	for {
		event := s.next()
		if event == "" {
			s.t.Fatalf("the stream ended without %q:\n%s", word, all)
		}
		if all += event; strings.Contains(plainText(event), word) {
			return all
		}
	}
}

func TestALivePageIsSentWhatChangedUntilTheRunEnds(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("read", "look"), call("next", "look", "read"))
	r := w.until(id, func(r countersign.Run) bool { return r.Steps[0].Status == countersign.StepRunning })
	vic := w.guest("vic@example.com", countersign.RoleViewer)
	vic.shows("/runs/"+id, "This page updates automatically.", `hx-sse:connect="/console/runs/`+id+`/live?from=`)
	s := vic.follow(t, "/runs/"+id+"/live?from="+strconv.FormatInt(r.Revision, 10))
	w.answer(200, `{"ok":true}`)
	first := s.next()
	says(t, "the first event", first, "id: ", `hx-target="#run-call"`, `hx-target="#s-1"`, `hx-target="#run-graph"`, "2. Do next")
	if strings.Contains(first, `hx-target="#run-actions"`) || strings.Contains(first, "event:") {
		t.Errorf("what didn't change is sent too:\n%s", first)
	}
	w.answer(200, `{"ok":true}`)
	says(t, "the last event", s.until("Done."), "Completed")
	if end := s.next(); !strings.Contains(end, "event: end") || s.next() != "" {
		t.Errorf("the stream goes on with %q", end)
	}
}

func TestALivePageThatIsBehindGetsThePresentAtOnce(t *testing.T) {
	w := openRunWorld(t)
	w.answer(200, `{"ok":true}`)
	id := w.start(clerk, call("read", "look"))
	w.reaches(id, countersign.RunCompleted)
	s := w.guest("vic@example.com", countersign.RoleViewer).follow(t, "/runs/"+id+"/live?from=1")
	says(t, "the stream", s.until("Done."), "Completed")
	if !strings.Contains(s.next(), "event: end") {
		t.Error("it doesn't end with the run")
	}
}

func TestAViewersLivePageIsMasked(t *testing.T) {
	w := openRunWorld(t)
	w.answer(200, `{"ok":true}`)
	id := w.start(clerk, call("read", "look"), call("note", "note", "read"))
	w.reaches(id, countersign.RunWaitingApproval)
	for email, role := range map[string]countersign.Role{"vic@example.com": countersign.RoleViewer, "ann@example.com": countersign.RoleApprover} {
		event := w.guest(email, role).follow(t, "/runs/"+id+"/live?from=1").next()
		if shown := strings.Contains(event, "secret of note"); shown != (role == countersign.RoleApprover) {
			t.Errorf("a sensitive field is shown to %s: %v", role, shown)
		}
		if may := strings.Contains(event, "Waiting for your decision"); may != (role == countersign.RoleApprover) {
			t.Errorf("%s may decide: %v", role, may)
		}
	}
}

func TestALivePageEndsWithItsSessionAndWithTheService(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("read", "look"), call("next", "look", "read"))
	r := w.until(id, func(r countersign.Run) bool { return r.Steps[0].Status == countersign.StepRunning })
	from := "/runs/" + id + "/live?from=" + strconv.FormatInt(r.Revision, 10)
	vic, ben := w.guest("vic@example.com", countersign.RoleViewer), w.guest("ben@example.com", countersign.RoleViewer)
	theirs, others := vic.follow(t, from), ben.follow(t, from)
	vic.submit("/sign-out", url.Values{})
	w.answer(200, `{"ok":true}`)
	if event := theirs.next(); event != "" {
		t.Errorf("somebody signed out is sent %q", event)
	}
	if res, err := vic.do(nowhere, http.MethodGet, from, nil, "Accept", "text/event-stream"); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("asked again: %v %v", res.StatusCode, err)
	}
	others.next()
	w.console.Stop()
	for others.next() != "" {
	}
	w.answer(200, `{"ok":true}`)
	w.reaches(id, countersign.RunCompleted)
}

func TestALivePageEndsWhereItsVisitorsRightsChange(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("read", "look"), call("next", "look", "read"))
	r := w.until(id, func(r countersign.Run) bool { return r.Steps[0].Status == countersign.StepRunning })
	s := w.guest("ann@example.com", countersign.RoleApprover).follow(t, "/runs/"+id+"/live?from="+strconv.FormatInt(r.Revision, 10))
	_, err := w.service.PutUser(nowhere, boss, "ann@example.com", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}})
	w.must(err)
	w.answer(200, `{"ok":true}`)
	if event := s.next(); event != "" {
		t.Errorf("sent by the rights of before: %q", event)
	}
}

// TestFastChangesComeTogetherAndTheLastArrives: a viewer of a hundred steps that
// pass at once gets a few events a second, and the end.
func TestFastChangesComeTogetherAndTheLastArrives(t *testing.T) {
	w := openRunWorld(t)
	var steps []countersign.Step
	for i := range 100 {
		steps = append(steps, call("s"+strconv.Itoa(i), "look"))
	}
	began := time.Now()
	id := w.start(clerk, steps...)
	s := w.guest("vic@example.com", countersign.RoleViewer).follow(t, "/runs/"+id+"/live?from=0")
	for range steps {
		w.answer(200, `{"ok":true}`)
	}
	events := 0
	for event := s.next(); !strings.Contains(event, "event: end"); event = s.next() {
		if events++; event == "" {
			t.Fatal("the stream ended before the run")
		}
		if strings.Contains(event, "Done. ") && !strings.Contains(event, "100 unverified") {
			t.Errorf("the last event isn't the last state:\n%s", plainText(event))
		}
	}
	if most := int(time.Since(began)/runs.LiveEvery) + 3; events > most {
		t.Errorf("%d events, more than %d", events, most)
	}
}

// TestViewersThatLeaveLeaveNothing: no goroutine and no view outlives its viewer.
func TestViewersThatLeaveLeaveNothing(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("read", "look"), call("next", "look", "read"))
	w.until(id, func(r countersign.Run) bool { return r.Steps[0].Status == countersign.StepRunning })
	vic := w.guest("vic@example.com", countersign.RoleViewer)
	before := runtime.NumGoroutine()
	var streams []*stream
	for range 60 {
		streams = append(streams, vic.follow(t, "/runs/"+id+"/live?from=0"))
	}
	w.answer(200, `{"ok":true}`)
	for _, s := range streams {
		s.until("Do next")
		s.leave()
		_ = s.res.Body.Close()
	}
	vic.client.CloseIdleConnections()
	late := time.Now().Add(5 * time.Minute)
	for runtime.NumGoroutine() > before+4 || w.console.live.Watched() > 0 {
		if time.Now().After(late) {
			t.Fatalf("viewers have left, and after 5 minutes there are %d goroutines, %d before; %d views", runtime.NumGoroutine(), before, w.console.live.Watched())
		}
		runtime.Gosched()
	}
	w.answer(200, `{"ok":true}`)
	w.reaches(id, countersign.RunCompleted)
}

// TestALivePageIsNotTakenBackByWordThatComesLate: whoever committed a change tells
// of it afterwards, so that an older state can be heard of behind a newer one.
func TestALivePageIsNotTakenBackByWordThatComesLate(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("read", "look"), call("next", "look", "read"), call("last", "look", "next"))
	old := w.until(id, func(r countersign.Run) bool { return r.Steps[0].Status == countersign.StepRunning })
	s := w.guest("vic@example.com", countersign.RoleViewer).follow(t, "/runs/"+id+"/live?from="+strconv.FormatInt(old.Revision, 10))
	heard := w.hub.Watch(clerk.Tenant, id)
	defer heard.Close()
	w.answer(200, `{"ok":true}`)
	says(t, "the first event", s.next(), "2. Do next")
	for r := <-heard.C; r.Steps[1].Status != countersign.StepRunning; {
		r = <-heard.C
	}
	w.answer(200, `{"ok":true}`)
	for r := <-heard.C; r.Steps[2].Status != countersign.StepRunning; {
		r = <-heard.C
	}
	w.hub.Publish(clerk.Tenant, &old) // within the time that the next event is held back
	says(t, "the second event", s.next(), "3. Do last")
	w.answer(200, `{"ok":true}`)
	s.until("Done.")
}
