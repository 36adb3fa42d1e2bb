package control

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// What a request asks to be judged is judged between the store's reads and its turn to write,
// never within them: what it is judged by is read first, and the turn to write sees that it is
// still the same.

// judge has f judge with the request's meter. f may be called twice.
func (s *Core) judge(ctx context.Context, a Actor, f func(m *cost.Meter)) error {
	return public(s.Repo.Judge(ctx, a.Tenant, f))
}

// errMoved says that what was judged has changed before the turn to write.
var errMoved = countersign.Errorf(countersign.CodeUnavailable, "what this is judged by changes all the time; nothing was changed, try again")

// triedAtMost is how often something is judged anew because it has changed.
const triedAtMost = 3

// whileMoved repeats f, which judges and writes, while it finds that something has changed.
func whileMoved(f func() error) (err error) {
	for range triedAtMost {
		if err = f(); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}
