package approvals

import (
	"context"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// DeskService tells people what waits for them, while they watch. Streams of one principal share
// a feed, and so its work.
type DeskService struct {
	*core.Core
	approvals *ApprovalService
	changes   WaitingChanges

	mu    sync.Mutex
	feeds map[string]*feed
	open  int // streams of this process
}

// WaitingChanges is how many proposed changes wait for an actor.
type WaitingChanges func(ctx context.Context, a core.Actor) (int, error)

// NewDesks returns the use cases.
func NewDesks(c *core.Core, approvals *ApprovalService, changes WaitingChanges) *DeskService {
	return &DeskService{Core: c, approvals: approvals, changes: changes, feeds: map[string]*feed{}}
}

// Bounds of a feed. Escalations and the rights of others change what waits without a record of
// the run, so that all is read again after a while.
const (
	feedEvery   = time.Second
	readAgain   = time.Minute
	feedRecords = 1000 // of the log in one look
	maxChanged  = 1000 // that a stream is behind with
)

// feed follows what waits for one principal.
type feed struct {
	desk    desk
	size    int64 // of the log, as far as it was followed
	read    time.Time
	again   bool
	waiting *countersign.WaitingCounts // nil: it isn't known yet
	streams map[*DeskStream]bool
	stop    context.CancelFunc
}

// DeskStream is what one client follows. Close it when done.
type DeskStream struct {
	Moved chan struct{} // something is to be taken

	service *DeskService
	key     string
	waiting *countersign.WaitingCounts
	changed []countersign.Changed
	ended   bool
}

// WatchDesk begins to follow what waits for the actor.
func (s *DeskService) WatchDesk(a core.Actor) (*DeskStream, error) {
	if err := access.Allow(a.Principal, access.ReadEvents); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= countersign.MaxEventStreams {
		return nil, countersign.Errorf(countersign.CodeCapacity, "this process has %d event streams open already; close one, or read the lists", countersign.MaxEventStreams)
	}
	s.open++
	stream := &DeskStream{Moved: make(chan struct{}, 1), service: s, key: sameRights(a)}
	f := s.feeds[stream.key]
	if f == nil {
		f = &feed{desk: desk{ApprovalService: s.approvals, actor: a, waitingChanges: s.changes}, streams: map[*DeskStream]bool{}, again: true}
		life := s.Config.Life
		if life == nil {
			life = context.Background()
		}
		life, f.stop = context.WithCancel(life)
		s.feeds[stream.key] = f
		s.Background.Go(func() { s.run(life, stream.key, f) })
	}
	f.streams[stream] = true
	if f.waiting != nil {
		stream.waiting = f.waiting
		stream.tell()
	}
	return stream, nil
}

// StillOf reports that a stream is still what the actor may see: with other rights a new one has
// another feed.
func (d *DeskStream) StillOf(a core.Actor) bool { return d.key == sameRights(a) }

// Take gives what is new: waiting is nil where that is as before. ended: nothing more comes.
func (d *DeskStream) Take() (waiting *countersign.WaitingCounts, changed []countersign.Changed, ended bool) {
	d.service.mu.Lock()
	defer d.service.mu.Unlock()
	waiting, changed = d.waiting, d.changed
	d.waiting, d.changed = nil, nil
	return waiting, changed, d.ended
}

// Close ends the watch; the last one ends the feed.
func (d *DeskStream) Close() {
	s := d.service
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	f := s.feeds[d.key]
	if f == nil || !f.streams[d] {
		return // the feed has ended, or is another one
	}
	if delete(f.streams, d); len(f.streams) == 0 {
		f.stop()
		delete(s.feeds, d.key)
	}
}

func (d *DeskStream) tell() {
	select {
	case d.Moved <- struct{}{}:
	default:
	}
}

// run follows until nobody watches, the right ends or the service does.
func (s *DeskService) run(ctx context.Context, key string, f *feed) {
	t := time.NewTicker(feedEvery)
	defer t.Stop()
	for {
		err := f.look(ctx)
		s.mu.Lock()
		over := ends(err) || ctx.Err() != nil
		s.pass(f, over, err == nil)
		if over && s.feeds[key] == f {
			delete(s.feeds, key)
		}
		s.mu.Unlock()
		if over {
			return
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// pass hands over what a look has found, with the lock held.
func (s *DeskService) pass(f *feed, over, known bool) {
	counts, changed := f.desk.counts(), f.desk.changed
	f.desk.changed = nil
	differs := known && (f.waiting == nil || *f.waiting != counts)
	if differs {
		f.waiting = &counts
	}
	for st := range f.streams {
		if differs {
			st.waiting = f.waiting
		}
		st.changed = append(st.changed, changed...)
		st.changed = st.changed[max(0, len(st.changed)-maxChanged):]
		st.ended = st.ended || over
		if differs || over || len(changed) > 0 {
			st.tell()
		}
	}
}

// look follows the log, and reads all again where that is due. What can't be read now is read
// the next time.
func (f *feed) look(ctx context.Context) error {
	s, now := f.desk.ApprovalService, f.desk.Config.Now()
	d, size, again := &f.desk, f.size, f.again
	first := f.read.IsZero()
	err := s.View(ctx, f.desk.actor, access.ReadEvents, func(tx store.Tx) (err error) {
		d, again = f.desk.copied(), f.again
		if size, err = audit.Size(tx, f.desk.actor.Tenant); err != nil || first || size == f.size {
			return err
		}
		from := f.size
		if size-from > feedRecords {
			from, again = size-feedRecords, true
		}
		log, err := audit.FollowingReadable(tx, f.desk.actor.Tenant, nil, from, size, feedRecords, func(int64, error) error { return nil })
		if err != nil {
			return err
		}
		if d.approvals == nil {
			d.approvals, d.recoveries = map[string]bool{}, map[string]bool{}
		}
		if d.seen == nil {
			d.seen = map[string]string{}
		}
		widened, err := d.follow(tx, log)
		again = again || widened
		return err
	})
	if err != nil {
		return err
	}
	f.desk, f.size, f.again = *d, size, again
	if first || again || now.Sub(f.read) >= readAgain {
		if err := f.desk.readAll(ctx); err != nil {
			return err
		}
		f.read, f.again = now, false
	}
	return nil
}
