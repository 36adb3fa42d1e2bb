package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// follower is somebody who follows one run after the other by server-sent events: a browser with
// the console's page of a run, or a program with the API's stream.
type follower struct {
	*browser          // nil: a program
	p                 *product
	routes            *routes
	log               *deliveries
	waiting, anything *recent // runs that have an approval, and all others
}

// How a browser reconnects: after a while, and whatever the reason. A connection lasts no longer
// than until the computer sleeps, or the proxy between them has enough of it.
const (
	reconnectAfter = time.Second
	connectionLife = 20 * time.Second
)

func (f *follower) work(ctx context.Context) {
	for ctx.Err() == nil {
		if due, ok := think(ctx, thinkBriefly); ok {
			f.follow(ctx, f.choose(), due)
		}
	}
}

// choose takes mostly a run that waits for people, since the others end in less time than it
// takes to look at them.
func (f *follower) choose() string {
	if rand.IntN(5) == 0 {
		return f.anything.back(0)
	}
	return f.waiting.back(rand.IntN(16))
}

// follow follows a run to its end.
func (f *follower) follow(ctx context.Context, run string, due time.Time) {
	if run == "" {
		return
	}
	name, q := f.stream(run, due)
	if q == nil { // the page shows an ended run
		return
	}
	for over := false; !over && ctx.Err() == nil; {
		over = f.connect(ctx, name, run, q)
		if !over {
			pause(ctx, reconnectAfter)
		}
	}
}

// stream is the request of the stream of a run, by its page in a browser.
func (f *follower) stream(run string, due time.Time) (name string, q *http.Request) {
	if f.browser == nil {
		q, err := http.NewRequest(http.MethodGet, f.p.base+"/runs/"+run+"/events", http.NoBody)
		if err != nil {
			panic(err) // can't happen: the path is ours
		}
		q.Header.Set("Authorization", "Bearer "+f.p.token)
		return "GET /runs/{id}/events", q
	}
	live := between(f.open("/console/runs/{id}", "/console/runs/"+run, due), `hx-sse:connect="`, `"`)
	if len(live) == 0 {
		return "", nil
	}
	return "GET /console/runs/{id}/live", f.request(http.MethodGet, html.UnescapeString(live[0]), nil)
}

// connect reads a stream for as long as the connection lasts; true if the run has ended. It
// measures the time to the stream's first line, and from the last answer that the run got to the
// line that says that it has ended.
func (f *follower) connect(ctx context.Context, name, run string, q *http.Request) (over bool) {
	life, cancel := context.WithTimeout(ctx, connectionLife)
	defer cancel()
	q = q.WithContext(life)
	q.Header.Set("Accept", "text/event-stream")
	due := time.Now()
	resp, err := client.Transport.RoundTrip(q)
	if err != nil {
		if ctx.Err() == nil {
			f.routes.answered(name, 0, err)
		}
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	f.routes.answered(name, resp.StatusCode, nil, http.StatusNotFound) // archived meanwhile
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode < 500
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 8<<20)
	first := false
	for lines.Scan() {
		if !first {
			first = true
			f.routes.took(name+": to its first line", due, time.Since(due))
		}
		if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
			q.Header.Set("Last-Event-ID", id)
		}
		if saysEnd(lines.Text()) {
			f.ended(name, run, due)
			return true
		}
	}
	if err := lines.Err(); err != nil && life.Err() == nil {
		f.routes.mu.Lock()
		defer f.routes.mu.Unlock()
		f.routes.isWrong(errors.Join(fmt.Errorf("%s of run %s", name, run), err))
	}
	return false
}

// saysEnd reports whether a line of either stream says that the run has ended.
func saysEnd(line string) bool {
	if line == "event: end" { // the console's
		return true
	}
	doc, is := strings.CutPrefix(line, "data: {")
	if !is {
		return false
	}
	switch member([]byte(doc[:min(len(doc), 512)]), "status") {
	case "COMPLETED", "FAILED", "CANCELLED":
		return true
	}
	return false
}

// ended measures how long a viewer who was there before waited for the end.
func (f *follower) ended(name, run string, connected time.Time) {
	if last, ok := f.log.finished(run); ok && connected.Before(last) {
		f.routes.took(name+": from a run's last answer to its end at a viewer", last, time.Since(last))
	}
}
