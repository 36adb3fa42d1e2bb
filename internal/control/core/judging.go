package core

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// What a request asks to be judged is judged between the store's reads and its turn to write,
// never within them: what it is judged by is read first, and the turn to write sees that it is
// still the same.

// Judge has f judge with the request's meter. f may be called twice.
func (s *Core) Judge(ctx context.Context, a Actor, f func(m *cost.Meter)) error {
	return Public(s.Repo.Judge(ctx, a.Tenant, f))
}

// ErrMoved says that what was judged has changed before the turn to write.
var ErrMoved = countersign.Errorf(countersign.CodeUnavailable, "what this is judged by changes all the time; nothing was changed, try again")

// triedAtMost is how often something is judged anew because it has changed.
const triedAtMost = 3

// WhileMoved repeats f, which judges and writes, while it finds that something has changed.
func WhileMoved(f func() error) (err error) {
	for range triedAtMost {
		if err = f(); !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return err
}
