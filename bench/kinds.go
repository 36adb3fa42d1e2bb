package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

func (a *api) kinds() []*kind {
	simulation := []byte(`{"scenarioId":"s"}`)
	return []*kind{
		{name: "A bare HTTP echo, not ours", clients: a.clients, once: func(_, _ int, note func(time.Duration)) error {
			begin := time.Now()
			err := a.r.post("", 0)
			note(time.Since(begin))
			return err
		}},
		a.requests("GET /health, which reads next to nothing", "GET", nil, func(int) string { return "/health" }),
		a.requests("GET /runs/{id}", "GET", nil, func(n int) string { return "/runs/" + a.known[n%len(a.known)] }),
		a.requests("GET /runs, a page of 100 anywhere", "GET", nil, func(n int) string { return "/runs?offset=" + strconv.Itoa(n*100%len(a.known)) }),
		a.requests("GET /runs, 20 of a status", "GET", nil, func(n int) string {
			return "/runs?status=COMPLETED&limit=20&offset=" + strconv.Itoa(n*20%len(a.known))
		}),
		a.requests("POST /models/{id}/simulate, 20 states", "POST", simulation, func(int) string { return "/models/chain/simulate" }),
		{name: fmt.Sprintf("POST /runs, driven to its end of %d steps", a.steps), clients: a.clients, once: func(_, _ int, note func(time.Duration)) error {
			start, err := a.p.runOnce()
			note(start)
			return err
		}},
		{name: "POST /agents/{id}/heartbeat", clients: a.beaters, once: func(client, _ int, note func(time.Duration)) error {
			begin := time.Now()
			err := a.p.beat(a.fleet.instances[client])
			note(time.Since(begin))
			return err
		}},
		{name: "GET /runs/{id}/events: from a run's last answer to its end at a viewer", clients: a.clients, shown: a.clients * a.viewers, once: a.follow},
	}
}

// requests is a kind whose requests go to the paths that path returns for different n.
func (a *api) requests(name, method string, doc []byte, path func(n int) string) *kind {
	const stride = 7919 // a prime: consecutive requests read runs that are far apart
	return &kind{name: name, clients: a.clients, once: func(client, n int, note func(time.Duration)) error {
		begin := time.Now()
		status, err := a.p.fetch(context.Background(), method, path(stride*(n*a.clients+client)), doc)
		note(time.Since(begin))
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("the status is %d", status)
		}
		return err
	}}
}

// finished returns the ids of all runs in the store.
func (p *product) finished() (ids []string, err error) {
	for offset := 0; ; offset += 200 {
		page, err := p.must("GET", "/runs?limit=200&offset="+strconv.Itoa(offset), nil)
		if err != nil {
			return nil, err
		}
		for _, item := range page["items"].([]any) {
			ids = append(ids, item.(object)["id"].(string))
		}
		if page["nextOffset"] == nil {
			return ids, nil
		}
	}
}
