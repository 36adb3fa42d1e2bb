package httpapi

import (
	"context"

	"github.com/countersign/countersign/internal/platform/semaphore"
)

// largeBodies are the turns of requests with large bodies: what such a request asks for, from
// the decoding of its body to its answer, takes a processor for long, so a tenant has one of them
// served at a time. Reading the body and writing the answer, which wait for the client, are no
// part of a turn.
type largeBodies struct{ turns *semaphore.Semaphore }

const (
	largeBodiesAtOnce = 2
	largeBody         = 64 << 10 // bytes
)

func newLargeBodies() largeBodies { return largeBodies{semaphore.Shared(largeBodiesAtOnce)} }

func (l largeBodies) do(ctx context.Context, tenant string, size int, serve func()) error {
	if size <= largeBody {
		serve()
		return nil
	}
	if l.turns.Do(ctx, tenant, serve) != nil {
		return errNoTurn
	}
	return nil
}
