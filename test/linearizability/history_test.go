package linearizability

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// ticks orders what happens: whoever takes a tick after somebody else had theirs
// has a larger one.
var ticks atomic.Int64

func tick() int64 { return ticks.Add(1) }

// history is what clients did, and when.
type history struct {
	mu  sync.Mutex
	ops []porcupine.Operation
}

// theService is the client that the service's own deeds are recorded under.
const theService = 8

// answer is what every answer has: a code, "" for success.
type answer struct{ code countersign.Code }

func answerOf(err error) answer { return answer{countersign.ErrorCode(err)} }

// told is what every answer can be asked.
type told interface {
	was() countersign.Code
	isLost() bool
}

func (a answer) was() countersign.Code { return a.code }

// isLost: whether the operation happened, nobody was told.
func (a answer) isLost() bool { return a.code == countersign.CodeUnavailable }

// do makes one request and records it.
func do[I any, O told](h *history, client int, in I, request func() O) O {
	call := tick()
	out := request()
	h.record(client, in, out, call, tick())
	return out
}

func (h *history) record(client int, in, out any, call, ret int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: call, Return: ret})
}

// sealed is the history with every operation that was not answered left open to
// its end: it may have happened at any time since it was asked for, or never.
func (h *history) sealed() []porcupine.Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	end := tick()
	for i := range h.ops {
		if h.ops[i].Output.(told).isLost() {
			h.ops[i].Return = end
		}
	}
	return h.ops
}

// clients has several clients do their operations, each one after the other.
func clients(seed uint64, act func(client int, rng *rand.Rand)) {
	rng := rand.New(rand.NewPCG(seed, 0x11))
	n, each := 3+rng.IntN(6), 3+rng.IntN(4)
	together(n, func(client int) {
		own := rand.New(rand.NewPCG(seed, uint64(client)+0x100))
		for range each {
			act(client, own)
		}
	})
}

// together does n things at once and waits for all of them.
func together(n int, do func(i int)) {
	var group sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-gate
			do(i)
		})
	}
	close(gate)
	group.Wait()
}

// hurried is a client's patience: now and then it ends very soon.
func hurried(rng *rand.Rand) (context.Context, context.CancelFunc) {
	if rng.IntN(12) > 0 {
		return background(), func() {}
	}
	return context.WithTimeout(background(), time.Duration(rng.IntN(3000))*time.Microsecond)
}

// pick draws one of the values.
func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }
