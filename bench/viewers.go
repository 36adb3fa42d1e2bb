package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// follow starts a run and has viewers follow it by server-sent events. It passes to note how
// long after the answer to the last call each viewer sees that the run is COMPLETED. Viewers
// whose first event came after that answer are left out.
func (a *api) follow(_, _ int, note func(time.Duration)) error {
	id, err := a.p.begin(a.p.key())
	if err != nil {
		return err
	}
	seen, errs := make([]view, a.viewers), make([]error, a.viewers)
	var wg sync.WaitGroup
	for i := range a.viewers {
		wg.Go(func() { seen[i], errs[i] = a.p.view(id) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	last := a.r.of(id).finished()
	a.r.runs.Delete(id)
	for _, v := range seen {
		if v.first.Before(last) {
			note(v.end.Sub(last))
		}
	}
	return nil
}

// view has the times at which a viewer saw the first state of a run and its end.
type view struct{ first, end time.Time }

func (p *product) view(run string) (v view, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	resp, err := p.send(ctx, "GET", "/runs/"+run+"/events", nil, "")
	if err != nil {
		return v, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return v, fmt.Errorf("events: %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := v.saw(lines.Text()); err != nil {
			return v, err
		}
	}
	if v.end.IsZero() {
		return v, errors.Join(fmt.Errorf("the events of run %s ended before the run", run), lines.Err())
	}
	return v, lines.Err()
}

func (v *view) saw(line string) error {
	data, is := strings.CutPrefix(line, "data: ")
	if !is {
		return nil
	}
	now := time.Now()
	if v.first.IsZero() {
		v.first = now
	}
	var run struct{ Status string }
	err := json.Unmarshal([]byte(data), &run)
	if run.Status == "COMPLETED" {
		v.end = now
	}
	return err
}
