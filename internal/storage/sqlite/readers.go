package sqlite

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// readers is a fixed set of read-only connections.
type readers struct {
	idle    chan *sqldoc.Conn
	closing chan struct{}
	all     []*sqldoc.Conn
}

func newReaders(capacity int) *readers {
	return &readers{idle: make(chan *sqldoc.Conn, capacity), closing: make(chan struct{})}
}

func (r *readers) add(conn *sqldoc.Conn) {
	r.all = append(r.all, conn)
	r.idle <- conn
}

func (r *readers) view(ctx context.Context, fn func(store.Tx) error) error {
	conn, err := r.borrow(ctx)
	if err != nil {
		return err
	}
	defer func() { r.idle <- conn }()
	if err := conn.Exec("BEGIN"); err != nil {
		return err
	}
	defer func() { _ = conn.Exec("ROLLBACK") }()
	tx := conn.Begin(true)
	defer tx.End()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Err()
}

func (r *readers) borrow(ctx context.Context) (*sqldoc.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-r.closing:
		return nil, errClosed
	default:
	}
	select {
	case conn := <-r.idle:
		return conn, nil
	case <-r.closing:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// gather admits no more readers and waits for those that read.
func (r *readers) gather() {
	close(r.closing)
	for range r.all {
		<-r.idle
	}
}

// close closes the connections, which must not be in use.
func (r *readers) close() error {
	var errs []error
	for _, conn := range r.all {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
