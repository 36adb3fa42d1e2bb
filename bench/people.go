package main

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// person is somebody who decides approvals in the console, and looks around between them.
type person struct {
	*browser
	log   *deliveries
	n, of int // which of how many people this is
}

// How long people think, on average: on a page that they pass, and before they decide.
const (
	thinkBriefly = 1500 * time.Millisecond
	thinkFirst   = 3 * time.Second
)

// think waits for between half and one and a half of a mean. It returns when the click was
// meant, from which the next page counts, and false at the end.
func think(ctx context.Context, mean time.Duration) (time.Time, bool) {
	due := time.Now().Add(mean/2 + rand.N(mean))
	return due, pause(ctx, time.Until(due))
}

// work has the person go on until the context ends. What has begun ends in order.
func (p *person) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		if due, ok := think(ctx, thinkBriefly); ok {
			p.open("/console/", "/console/", due)
		}
		p.decide(ctx)
		switch n % 3 {
		case 0:
			p.lookAtRuns(ctx)
		case 1:
			p.lookAtAudit(ctx)
		}
	}
}

// decide opens one of the approvals that wait and decides it.
func (p *person) decide(ctx context.Context) {
	due, ok := think(ctx, thinkBriefly)
	if !ok {
		return
	}
	ids := p.mine(between(p.open("/console/approvals", "/console/approvals", due), `class="row" href="/console/approvals/`, `"`))
	if due, ok = think(ctx, thinkBriefly); !ok || len(ids) == 0 {
		return
	}
	path := "/console/approvals/" + ids[rand.IntN(len(ids))]
	page := p.open("/console/approvals/{id}", path, due)
	csrf := between(page, `name="csrf" value="`, `"`)
	run := between(page, `href="/console/runs/`, `"`)
	if due, ok = think(ctx, thinkFirst); !ok || len(csrf) == 0 || !strings.Contains(string(page), `name="decision"`) {
		return
	}
	p.send(path, csrf[0], run, due)
}

// mine are the approvals that this person takes: each has an area. Now and then somebody looks
// at the whole list, so that two may decide one approval.
func (p *person) mine(ids []string) (mine []string) {
	if rand.IntN(10) == 0 {
		return ids
	}
	for _, id := range ids {
		h := fnv.New32a()
		_, _ = h.Write([]byte(id))
		if int(h.Sum32()%uint32(p.of)) == p.n {
			mine = append(mine, id)
		}
	}
	return mine
}

// rejects is which share of approvals is rejected: one in so many.
const rejects = 10

func (p *person) send(path, csrf string, run []string, due time.Time) {
	decision := "APPROVED"
	if rand.IntN(rejects) == 0 {
		decision = "REJECTED"
	}
	form := url.Values{"csrf": {csrf}, "decision": {decision}, "reason": {"as ordered"}}
	// Somebody else may have decided it meanwhile: 409.
	a, err := p.routes.ask("POST /console/approvals/{id}/decision", due, p.request(http.MethodPost, path+"/decision", form), http.StatusSeeOther, http.StatusConflict)
	to, decided := strings.CutPrefix(a.header.Get("Location"), "/console/runs/")
	switch {
	case decided:
		p.log.decided(to, decision == "REJECTED", false)
		p.open("/console/runs/{id}", "/console/runs/"+to, time.Now())
	case (err != nil || a.status >= 500) && len(run) > 0:
		p.log.decided(run[0], false, true)
	}
}

func (p *person) lookAtRuns(ctx context.Context) {
	p.lookAtOneOf(ctx, "/console/runs", "/console/runs/run-", "/console/runs/{id}")
}

func (p *person) lookAtAudit(ctx context.Context) {
	p.lookAtOneOf(ctx, "/console/audit", "/console/audit/records/", "/console/audit/records/{seq}")
}

// lookAtOneOf opens a list, and then one of the pages whose addresses on it begin so.
func (p *person) lookAtOneOf(ctx context.Context, list, begin, route string) {
	due, ok := think(ctx, thinkBriefly)
	if !ok {
		return
	}
	ids := between(p.open(list, list, due), `href="`+begin, `"`)
	if due, ok = think(ctx, thinkBriefly); ok && len(ids) > 0 {
		p.open(route, begin+ids[rand.IntN(len(ids))], due)
	}
}
