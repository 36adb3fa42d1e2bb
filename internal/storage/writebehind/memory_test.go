package writebehind_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/storetest"
)

// engine is the simplest store with rows written behind: its database is the store in
// memory, and after each commit it may freeze a layer, write one, or both.
type engine struct {
	database *memory.Store
	layers   *writebehind.Layers
	writer   *writebehind.Writer
	turn     chan struct{} // one Update at a time
	draw     *rand.Rand
	frozen   *writebehind.Frozen
	frames   [][]byte
	closed   atomic.Bool
}

func newEngine(seed uint64) *engine {
	e := &engine{database: memory.New(), layers: writebehind.New(0), draw: rand.New(rand.NewPCG(seed, 1))}
	e.turn = make(chan struct{}, 1)
	e.writer = e.layers.NewWriter(e.borrow)
	return e
}

// base is a snapshot of the store in memory: a View that lasts until Close.
type base struct {
	store.Whole
	end, ended chan struct{}
}

func (b base) Close() {
	close(b.end)
	<-b.ended
}

type reader struct{ database *memory.Store }

func (e *engine) borrow() (writebehind.Reader, error) { return reader{e.database}, nil }

func (reader) Release() {}

func (r reader) Begin() (writebehind.Base, error) {
	b := base{end: make(chan struct{}), ended: make(chan struct{})}
	begun := make(chan store.Tx)
	go func() {
		defer close(b.ended)
		_ = r.database.View(context.Background(), func(tx store.Tx) error {
			begun <- tx
			<-b.end
			return nil
		})
	}()
	b.Whole = (<-begun).(store.Whole)
	return b, nil
}

func (e *engine) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := e.open(ctx); err != nil {
		return err
	}
	return e.layers.View(e.borrow, fn)
}

func (e *engine) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := e.open(ctx); err != nil {
		return err
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-e.turn }()
	b := e.writer.Begin()
	defer b.End()
	err, broken := b.Run(fn)
	if !b.Empty() {
		frame, _ := b.Frame(nil)
		e.frames = append(e.frames, frame)
		b.Committed()
	}
	if e.draw.IntN(3) == 0 && e.frozen == nil {
		e.frozen = e.layers.Freeze()
	}
	if e.draw.IntN(3) == 0 {
		e.write()
	}
	return errors.Join(err, broken)
}

// write writes the frozen layer into the database.
func (e *engine) write() {
	if e.frozen == nil {
		return
	}
	err := e.frozen.Written(func() error {
		return e.database.Update(context.Background(), func(tx store.Tx) error { return rewrite(tx.(store.Whole), e.frozen) })
	})
	if err != nil {
		panic(err)
	}
	e.frozen = nil
}

var errStored = errors.New("the database has another row than the layer says")

func rewrite(tx store.Whole, frozen *writebehind.Frozen) error {
	return frozen.Rows(func(c writebehind.Change) error {
		was, err := tx.Get(c.Table, c.Tenant, c.Row.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if was.Version != c.Stored || !slices.Equal(was.Keys, c.Columns) {
			return errStored
		}
		if err := tx.Delete(c.Table, c.Tenant, c.Row.ID); err != nil || c.Row.Version == 0 {
			return err
		}
		return tx.Load(c.Table, c.Tenant, c.Row)
	})
}

func (e *engine) Failed() <-chan struct{} { return nil }
func (e *engine) Full() bool              { return false }

func (e *engine) Close() error {
	e.closed.Store(true)
	return nil
}

func (e *engine) open(ctx context.Context) error {
	if e.closed.Load() {
		return store.ErrClosed
	}
	return ctx.Err()
}

// TestConformance: the law of every store holds whenever layers are frozen and written.
func TestConformance(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	storetest.Run(t, func(*testing.T) store.Store { return newEngine(seed) })
}
