// Package witnessing shows the heads of the audit logs to witnesses (C2SP tlog-witness) and keeps
// their cosignatures: from then on nobody can cut a log off, or tell another story of it, without
// a witness's key. A witness that is down, slow or wrong stops nothing.
package witnessing

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

const (
	lookEvery   = 5 * time.Second
	lookRest    = 20          // times as long as a look took: it reads the head of each log
	submitEvery = time.Minute // of one log, at most
	atOnce      = 4           // submissions to one witness
)

// Witness is where and by which key one cosigns.
type Witness struct {
	URL string // without a slash at its end
	Key checkpoint.Key
}

// Config is what the settings say.
type Config struct {
	Witnesses  []Witness
	Client     *http.Client
	Now        func() time.Time
	Log        *slog.Logger
	Unreadable *unreadable.Records
}

// Submitter submits. Start begins, Stop ends it.
type Submitter struct {
	cfg    Config
	store  store.Store
	prover *audit.Prover
	tasks  []*periodic.Task

	mu   sync.Mutex
	logs map[string]*shown // by tenant
}

// shown is what is shown of one log.
type shown struct {
	size  int64     // that is submitted now: all witnesses are to cosign one head
	since time.Time // when it became that
	done  []int64   // by witness: the size that it has cosigned last, as far as is known
	tried []time.Time
	told  []bool // by witness: it is recorded that the log contradicts what it has cosigned
}

// New makes a submitter.
func New(cfg Config, s store.Store) *Submitter {
	return &Submitter{cfg: cfg, store: s, prover: &audit.Prover{}, logs: map[string]*shown{}}
}

// Start submits the head of each log, and again when it has grown, until Stop.
func (s *Submitter) Start() {
	s.tasks = append(s.tasks, periodic.Sparing(lookEvery, lookRest, s.Look))
	for at := range s.cfg.Witnesses {
		s.tasks = append(s.tasks, periodic.Start(lookEvery, func(ctx context.Context) { s.Submit(ctx, at) }))
	}
}

// Stop waits for what is under way.
func (s *Submitter) Stop() {
	for _, t := range s.tasks {
		t.Stop()
	}
}

// Look reads how far each log has grown.
func (s *Submitter) Look(ctx context.Context) {
	err := s.cfg.Unreadable.EachTenant(ctx, s.store, "audit log", func(tenant string) error { return s.look(ctx, tenant) })
	if err == nil {
		err = s.look(ctx, store.Realm)
	}
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("the heads of the audit logs can't be read for witnesses", "error", err)
	}
}

func (s *Submitter) look(ctx context.Context, tenant string) error {
	var size int64
	err := s.store.View(ctx, func(tx store.Tx) (err error) {
		size, _, err = audit.Head(tx, tenant)
		return err
	})
	if err == nil && size > 0 {
		s.grew(tenant, size)
	}
	return err
}

// grew makes a size the one that is submitted, unless another became that within the last minute.
func (s *Submitter) grew(tenant string, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, n := s.logs[tenant], len(s.cfg.Witnesses)
	switch {
	case l == nil:
		s.logs[tenant] = &shown{size: size, since: s.cfg.Now(), done: slices.Repeat([]int64{never}, n), tried: make([]time.Time, n), told: make([]bool, n)}
	case l.size != size && s.cfg.Now().Sub(l.since) >= submitEvery:
		l.size, l.since = size, s.cfg.Now()
	}
}

// never is the size of a log that this process hasn't shown to a witness: it does so once at its
// start, grown or not.
const never = -1

// Submit submits to one witness what it hasn't cosigned.
func (s *Submitter) Submit(ctx context.Context, at int) {
	var all sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for tenant, size := range s.due(at) {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			s.submit(ctx, at, tenant, size)
		})
	}
	all.Wait()
}

// due are the logs whose head a witness hasn't cosigned, and wasn't asked for within a minute.
func (s *Submitter) due(at int) map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, now := map[string]int64{}, s.cfg.Now()
	for tenant, l := range s.logs {
		if l.done[at] != l.size && now.Sub(l.tried[at]) >= submitEvery {
			out[tenant], l.tried[at] = l.size, now
		}
	}
	return out
}

// submit submits a log's head, and keeps the cosignature.
func (s *Submitter) submit(ctx context.Context, at int, tenant string, size int64) {
	witness := s.cfg.Witnesses[at]
	c, err := s.agree(ctx, at, tenant, size)
	var rewound *rewoundError
	switch {
	case errors.As(err, &rewound):
		s.cfg.Log.Error("audit_rewound: a log is not what a witness has cosigned", "tenant", tenant, "witness", witness.Key.Name(), "how", rewound.how)
		s.tell(ctx, at, tenant, rewound)
	case err == nil:
		if err = s.keep(ctx, at, tenant, c); err == nil {
			s.note(tenant, func(l *shown) { l.done[at], l.told[at] = size, false })
		}
	}
	level := slog.LevelWarn
	if errors.Is(err, errAhead) {
		level = slog.LevelDebug // another replica has submitted, as it should
	}
	if err != nil && rewound == nil && ctx.Err() == nil {
		s.cfg.Log.Log(ctx, level, "a witness has not cosigned", "tenant", tenant, "witness", witness.Key.Name(), "error", err)
	}
}

func (s *Submitter) note(tenant string, change func(l *shown)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.logs[tenant]; l != nil {
		change(l)
	}
}

// keep stores a checkpoint with the lines of a witness's answer, beside the cosignatures of the same
// size that others have given. The checkpoint is of a prefix of the log, so it stays true while it
// waits for its turn.
func (s *Submitter) keep(ctx context.Context, at int, tenant string, c cosigned) error {
	key := s.cfg.Witnesses[at].Key
	return s.store.Update(ctx, func(tx store.Tx) error {
		if err := records.Rewinds.Delete(tx, store.Realm, records.RewoundID(key.KeyHash(), tenant)); err != nil {
			return err
		}
		kept, version, err := records.CosignedHeads.Get(tx, tenant, records.CosignedID(c.epoch, c.size))
		switch {
		case errors.Is(err, store.ErrNotFound):
			kept = &records.Cosigned{Size: c.size, Epoch: c.epoch, Checkpoint: c.checkpoint}
		case err != nil:
			return err
		}
		if kept.Checkpoint, err = checkpoint.Renewed(kept.Checkpoint, c.lines, key); err != nil {
			return err
		}
		kept.At = s.cfg.Now()
		_, err = records.CosignedHeads.Put(tx, tenant, records.CosignedID(c.epoch, c.size), kept, version)
		return err
	})
}
