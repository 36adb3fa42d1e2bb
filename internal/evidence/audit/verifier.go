package audit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// Verifier verifies long logs in spans, each in a snapshot of its own, so that no
// snapshot is held for long. It caches its progress for a minute, for concurrent
// callers and for retries: within a minute each record is read once. After that it
// reads all records again, since a record may be altered at any time. It is safe for
// concurrent use.
type Verifier struct {
	mu   sync.Mutex
	logs map[string]*progress // by tenant
}

// keptFor is how long the cached progress is used.
const keptFor = time.Minute

// progress is the state of the verification of a log; only the goroutine whose turn it
// is may access it.
type progress struct {
	turn  chan struct{}
	found head
	from  time.Time // when the records of found had all been read, or the latest so far
	whole bool      // they were all that there were then, and fitted
}

// Reader runs a function on one snapshot when it is its turn.
type Reader func(ctx context.Context, span func(tx store.Tx) error) error

// Verify verifies a tenant's log.
func (v *Verifier) Verify(ctx context.Context, tenant string, now func() time.Time, read Reader) (countersign.AuditVerification, error) {
	p := v.of(tenant)
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return countersign.AuditVerification{}, ctx.Err()
	}
	if now().Sub(p.from).Abs() >= keptFor {
		p.forget()
	}
	began := p.found.Size
	out, err := p.verify(ctx, tenant, now, read)
	if err == nil && !out.Intact {
		p.forget() // a restored store has another tree
		if began > 0 {
			out, err = p.verify(ctx, tenant, now, read)
		}
	}
	if err == nil && !out.Intact {
		p.forget()
	}
	return out, err
}

func (v *Verifier) of(tenant string) *progress {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.logs == nil {
		v.logs = map[string]*progress{}
	}
	if v.logs[tenant] == nil {
		v.logs[tenant] = &progress{turn: make(chan struct{}, 1)}
	}
	return v.logs[tenant]
}

func (p *progress) forget() { p.found, p.from, p.whole = head{}, time.Time{}, false }

// verify continues from found to the end of the log.
func (p *progress) verify(ctx context.Context, tenant string, now func() time.Time, read Reader) (out countersign.AuditVerification, err error) {
	for done := false; !done; {
		next := verification{}
		err := read(ctx, func(tx store.Tx) (err error) {
			next = verification{found: p.found.clone()} // perhaps more than once
			done, err = next.span(tx, tenant)
			return err
		})
		if err != nil {
			return out, err
		}
		p.found, out = next.found, next.result
		if !p.whole { // else the records before are as old as they were
			p.from, p.whole = now(), done
		}
	}
	return out, nil
}

func (h head) clone() head {
	h.Roots = slices.Clone(h.Roots)
	return h
}

// verification recomputes the tree hash of a log.
type verification struct {
	found  head // what was read
	result countersign.AuditVerification
}

// span reads the next records; done when the result is known.
func (v *verification) span(tx store.Tx, tenant string) (done bool, err error) {
	h, err := loadHead(tx, tenant)
	switch {
	case errors.Is(err, errHead):
		v.result = broken(countersign.AuditVerification{}, 0)
		return true, nil
	case err != nil:
		return false, err
	}
	v.result = countersign.AuditVerification{Records: h.Size, Head: h.Hash()}
	rows, damaged, err := batch(tx, tenant, &v.found)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		leaf, ok := fits(row, v.found.Size)
		if !ok {
			v.result = broken(v.result, v.found.Size)
			return true, nil
		}
		v.found.Add(leaf)
	}
	switch {
	case damaged:
		v.result = broken(v.result, v.found.Size)
		return true, nil
	case len(rows) == verifyBatch:
		return false, nil
	}
	v.result = compare(v.result, h, &v.found)
	return true, nil
}
