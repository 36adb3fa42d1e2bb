package iofaults

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

// promises are the answers of a server.
type promises struct {
	injection injection
	models    []string // acknowledged models
	refused   []string // refused models, which changed nothing
	doubtful  []string // models of which it is not known whether they were written
	runs      []string // started
	dying     bool     // an answer is missing, or says that the store failed
	status    int      // exit status of the process
}

var rounds = campaign.SizeFlag("rounds", 20, 30, "how long the traffic goes on that a fault meets")

// traffic writes models and starts runs, until it is done or the server has died.
func (b *bed) traffic(p *promises, n int) {
	b.t.Helper()
	for round := 0; round < rounds.N() && !p.dying; round++ {
		id := fmt.Sprintf("model-%d-%d", n, round)
		a, err := b.operator.Try("PUT", "/models/"+id, doc{"document": harness.Model(id)})
		switch {
		case err != nil:
			p.dying = true
		case a.Status == 503:
			p.refused = append(p.refused, id)
			b.looks(p)
		case p.inDoubt(a):
			p.doubtful = append(p.doubtful, id)
		default:
			a.OK(b.t)
			p.models = append(p.models, id)
		}
		if round%5 == 0 && !p.dying {
			b.starts(p, fmt.Sprintf("Idempotency-Key: key-%d-%d", n, round))
		}
	}
}

func (b *bed) starts(p *promises, key string) {
	b.t.Helper()
	a, err := b.operator.Try("POST", "/runs", doc{"planId": b.plan}, harness.Header(key))
	switch {
	case err != nil:
		p.dying = true
	case a.Status != 503 && !p.inDoubt(a):
		p.runs = append(p.runs, a.OK(b.t).At("id").Text())
	}
}

// inDoubt reports an answer after which nobody knows what was written, which only a failed sync
// leads to. The store has failed then.
func (p *promises) inDoubt(a *harness.Answer) bool {
	is := a.Status == 500 && p.injection.ofSync()
	p.dying = p.dying || is
	return is
}

// looks checks that reads work while writes fail; only a store that has failed for good ends the service.
func (b *bed) looks(p *promises) {
	b.t.Helper()
	a, err := b.operator.Try("GET", "/models/refund", nil)
	if err == nil && a.Status == 200 {
		a, err = b.Admin.Try("GET", "/health", nil)
	}
	p.dying = err != nil || a.Status == 503
	if err == nil && a.Status != 200 && a.Status != 503 {
		b.t.Errorf("%v: %s", p.injection, a)
	}
}

// keeps checks that acknowledged records exist, with one audit record each, and refused ones don't. Those in doubt may, with
// their audit record.
func (b *bed) keeps(p *promises) {
	b.t.Helper()
	for _, id := range p.models {
		b.operator.Get("/models/"+id).OK(b.t).Is(b.t, "revision", 1)
		b.Admin.Get("/audit?subject=model/"+id).OK(b.t).Is(b.t, "total", 1)
	}
	for _, id := range slices.Concat(p.refused, p.doubtful) {
		there := b.operator.Get("/models/"+id).Status == 200
		if there && slices.Contains(p.refused, id) {
			b.t.Errorf("%v: model %s was refused and is there", p.injection, id)
		}
		b.Admin.Get("/audit?subject=model/"+id).OK(b.t).Is(b.t, "total", map[bool]int{true: 1}[there])
	}
	for _, id := range p.runs {
		harness.Until(b.t, "run "+id+" to end", func() bool {
			return slices.Contains([]string{"COMPLETED", "RECOVERY_REQUIRED"}, b.operator.Get("/runs/"+id).OK(b.t).At("status").Text())
		})
	}
	for _, log := range []string{"/audit/verify", "/audit/verify?realm=true"} {
		b.Admin.Get(log).OK(b.t).Is(b.t, "intact", true)
	}
}
