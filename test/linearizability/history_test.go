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

// ticks is a logical clock: a later tick is larger.
var ticks atomic.Int64

func tick() int64 { return ticks.Add(1) }

// history is what clients did, with the ticks of call and return.
type history struct {
	mu  sync.Mutex
	ops []porcupine.Operation
}

// theService is the client id for the service's own actions.
const theService = 8

// answer is the common part of answers: a code, "" for success.
type answer struct{ code countersign.Code }

func answerOf(err error) answer { return answer{countersign.ErrorCode(err)} }

// told is implemented by every answer.
type told interface {
	was() countersign.Code
	isLost() bool
}

func (a answer) was() countersign.Code { return a.code }

// isLost reports whether the answer doesn't say if the operation happened.
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

// sealed is the history in which every operation without an answer lasts to the end: it may have happened at any time
// after its call, or never.
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

// clients runs several clients concurrently, each with one operation after the other.
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

// together does n things concurrently and waits for all of them.
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

// hurried is a client's context, which sometimes ends very soon.
func hurried(rng *rand.Rand) (context.Context, context.CancelFunc) {
	if rng.IntN(12) > 0 {
		return background(), func() {}
	}
	return context.WithTimeout(background(), time.Duration(rng.IntN(3000))*time.Microsecond)
}

// pick draws one of the values.
func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }
