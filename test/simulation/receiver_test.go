package simulation

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// receiver is the project APIs. It logs every request, independently of the service, and its answers depend only on the seed, the key and
// how often the key came.
type receiver struct {
	seed uint64
	now  func() time.Time
	acts []behaviour                    // what it may do
	pace func(*rand.Rand) time.Duration // how long it takes
	// arrived is called for each delivery before it is answered.
	arrived func(*delivery)

	mu       sync.Mutex
	log      []*delivery
	attempts map[string]int // calls by key, including those that were not sent
	calls    int
	arrivals int // deliveries, also those that the log has dropped
}

// delivery is one received request.
type delivery struct {
	call  request.Call
	by    *session  // of the process that sent it
	at    time.Time // by the clock that nobody sets
	done  time.Time // when the service got the answer, zero before
	told  request.Outcome
	acted bool
	probe bool
}

// behaviour is one way to answer a request.
type behaviour struct {
	name   string
	weight int
	sent   bool // the request arrives
	acts   bool // the receiver executes it
	answer func(c request.Call) request.Outcome
	hangs  bool // no answer before the timeout
}

func returned(status int, body string) func(request.Call) request.Outcome {
	return func(c request.Call) request.Outcome {
		o := request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: status, Bytes: countersign.ByteCount(len(body)), BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte(body)))}}
		if status >= 200 && status < 300 {
			o.Body = countersign.RawValue(strings.ReplaceAll(body, "KEY", c.IdempotencyKey))
		} else {
			o.Response.Body = body
		}
		return o
	}
}

func unknown(cause string, status int) func(request.Call) request.Outcome {
	return func(request.Call) request.Outcome {
		o := request.Outcome{Certainty: request.Unknown, Cause: cause}
		if status > 0 {
			o.Response = &countersign.Response{StatusCode: status}
		}
		return o
	}
}

func neverLeft(cause string) func(request.Call) request.Outcome {
	return func(request.Call) request.Outcome {
		return request.Outcome{Certainty: request.NotSent, Cause: cause}
	}
}

// The output of a receiver that executed the request, and of one that only claims so.
const (
	goodBody = `{"state":"done","amount":12.50,"id":"KEY","nested":{"list":[1,null,"x"]},"result":{"state":"done","amount":12.50,"id":"KEY"}}`
	lieBody  = `{"state":"pending","amount":0,"id":"KEY","nested":{"list":[]},"result":{"state":"pending","amount":0,"id":"KEY"}}`
)

var behaviours = []behaviour{
	{name: "does it", weight: 60, sent: true, acts: true, answer: returned(200, goodBody)},
	{name: "does it, 201 1.25e1", weight: 4, sent: true, acts: true, answer: returned(201, strings.ReplaceAll(goodBody, "12.50", "1.25e1"))},
	{name: "lies", weight: 5, sent: true, answer: returned(200, lieBody)},
	{name: "empty answer", weight: 2, sent: true, acts: true, answer: returned(204, "null")},
	{name: "field missing", weight: 2, sent: true, acts: true, answer: returned(200, `{"other":1}`)},
	{name: "refuses 422", weight: 3, sent: true, answer: returned(422, "no")},
	{name: "conflict 409", weight: 3, sent: true, answer: returned(409, "no")},
	{name: "acts, and a proxy repeats it", weight: 3, sent: true, acts: true, answer: returned(409, `{"error":"in_progress"}`)},
	{name: "timeout 408", weight: 2, sent: true, answer: returned(408, "")},
	{name: "fails 500 after acting", weight: 4, sent: true, acts: true, answer: returned(500, "oops")},
	{name: "fails 503", weight: 2, sent: true, answer: returned(503, "busy")},
	{name: "redirects 302", weight: 2, sent: true, answer: returned(302, "")},
	{name: "cut off after acting", weight: 4, sent: true, acts: true, answer: unknown("the connection ended", 0)},
	{name: "cut off before acting", weight: 3, sent: true, answer: unknown("the connection ended", 0)},
	{name: "unreadable 2xx", weight: 2, sent: true, acts: true, answer: unknown("answer_unreadable: the key \"status\" stands twice, the second time at byte 17", 200)},
	{name: "hangs, acts", weight: 4, sent: true, acts: true, hangs: true, answer: unknown("no answer within the time", 0)},
	{name: "hangs", weight: 2, sent: true, hangs: true, answer: unknown("no answer within the time", 0)},
	{name: "refused connection", weight: 3, answer: neverLeft("connection refused")},
}

func (r *receiver) script(key string, n int) (behaviour, time.Duration) {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %d", r.seed, key, n)
	rng := rand.New(rand.NewPCG(h.Sum64(), r.seed))
	all := 0
	for _, b := range r.acts {
		all += b.weight
	}
	at := rng.IntN(all)
	took := r.pace(rng)
	for _, b := range r.acts {
		if at -= b.weight; at < 0 {
			return b, took
		}
	}
	panic("no behaviour")
}

// uneven is the pace of receivers of which some are slower than any timeout.
func uneven(rng *rand.Rand) time.Duration {
	took := time.Duration(1+rng.IntN(3_000_000)) * time.Microsecond
	switch rng.IntN(10) {
	case 0, 1, 2, 3:
		return time.Duration(1+rng.IntN(5000)) * time.Microsecond
	case 4, 5:
		return time.Duration(1+rng.IntN(25_000_000)) * time.Microsecond
	}
	return took
}

// Call implements engine.Caller and control.Prober: it delivers once, executes the request or not, and returns by the timeout or when ctx
// ends.
func (r *receiver) Call(ctx context.Context, c request.Call) request.Outcome {
	return r.call(ctx, c, nil)
}

func (r *receiver) call(ctx context.Context, c request.Call, by *session) request.Outcome {
	if c.Project.Adapter == countersign.AdapterLocalEcho {
		return returned(200, countersign.ObjectValue(c.Input).Raw())(request.Call{})
	}
	r.mu.Lock()
	n := r.attempts[c.IdempotencyKey]
	r.attempts[c.IdempotencyKey]++
	r.mu.Unlock()
	b, took := r.script(c.IdempotencyKey, n)
	if !b.sent {
		return b.answer(c)
	}
	d := &delivery{call: c, by: by, at: time.Now(), acted: b.acts, probe: strings.Contains(c.IdempotencyKey, ".probe-")}
	r.mu.Lock()
	r.log, r.arrivals = append(r.log, d), r.arrivals+1
	r.mu.Unlock()
	r.arrived(d)
	o := r.wait(ctx, b, c, took)
	r.mu.Lock()
	defer r.mu.Unlock()
	d.told, d.done = o, time.Now()
	return o
}

func (r *receiver) wait(ctx context.Context, b behaviour, c request.Call, took time.Duration) request.Outcome {
	late := b.hangs || took >= c.Timeout
	if late {
		took = c.Timeout
	}
	t := time.NewTimer(took)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return request.Outcome{Certainty: request.Unknown, Cause: "the call was ended"}
	case <-t.C:
	}
	if late {
		return request.Outcome{Certainty: request.Unknown, Cause: "no answer within the time"}
	}
	return b.answer(c)
}

// Health implements control.Prober.
func (r *receiver) Health(_ context.Context, _ string, _ map[string]string, p *countersign.Project) countersign.HealthCheck {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	healthy := p.Adapter == countersign.AdapterLocalEcho || r.calls%7 != 0
	check := countersign.HealthCheck{ProjectID: p.ID, Revision: p.Revision, Healthy: healthy, StatusCode: 200, CheckedAt: r.now()}
	if !healthy {
		check.StatusCode, check.Error = 503, "the health path answered 503"
	}
	return check
}

// deliveries are those logged so far.
func (r *receiver) deliveries() []*delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*delivery, len(r.log))
	for i, d := range r.log {
		seen := *d // a copy, since a delivery in progress changes
		list[i] = &seen
	}
	return list
}
