package measured

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// outage tells the log why a store refuses what it is asked for: who is refused learns that it
// is unavailable, and nothing of the cause.
type outage struct {
	lasts atomic.Bool // since the latest success; most calls look at nothing else

	mu      sync.Mutex
	refused int       // since the latest line
	told    time.Time // the latest line of a refusal
	begun   bool      // that line is of this outage
}

// outageEvery is how often an outage is logged that lasts, or that comes and goes.
const outageEvery = time.Minute

// tell logs the first refusal and then one a minute, with how many there were since the line
// before; and the first success after them.
func (o *outage) tell(ctx context.Context, log *slog.Logger, refused, over string, err error) {
	switch {
	case err == nil:
		if o.lasts.Load() && o.ends() {
			log.InfoContext(ctx, over)
		}
	case errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrClosed):
		if n := o.refuses(time.Now()); n > 0 {
			log.WarnContext(ctx, refused, "error", err, "refused", n)
		}
	}
}

// refuses counts a refusal, and gives how many a line is due for, 0 for no line.
func (o *outage) refuses(now time.Time) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lasts.Store(true)
	o.refused++
	if !o.told.IsZero() && now.Sub(o.told) < outageEvery {
		return 0
	}
	n, o.refused, o.told, o.begun = o.refused, 0, now, true
	return n
}

// ends reports whether the end of an outage is to be logged: its refusals were.
func (o *outage) ends() (logged bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	logged, o.begun = o.begun && o.lasts.Load(), false
	o.lasts.Store(false)
	return logged
}
