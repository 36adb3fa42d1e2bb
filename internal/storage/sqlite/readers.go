package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// readers is a fixed set of read-only connections.
type readers struct {
	idle    chan *sqldoc.Conn
	closing chan struct{} // closed once no View runs any more
	all     []*sqldoc.Conn

	mu     sync.Mutex
	closed bool
	views  sync.WaitGroup // those that have begun
}

func newReaders(capacity int) *readers {
	return &readers{idle: make(chan *sqldoc.Conn, capacity), closing: make(chan struct{})}
}

func (r *readers) add(conn *sqldoc.Conn) {
	r.all = append(r.all, conn)
	r.idle <- conn
}

// reader is a connection as writebehind uses it.
type reader struct {
	conn *sqldoc.Conn
	idle chan<- *sqldoc.Conn // nil: it is kept
}

// Begin implements writebehind.Reader.
func (r reader) Begin() (writebehind.Base, error) {
	s, err := begin(r.conn)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Release implements writebehind.Reader.
func (r reader) Release() {
	if r.idle != nil {
		r.idle <- r.conn
	}
}

// lend waits for a connection.
func (r *readers) lend(ctx context.Context) (writebehind.Reader, error) {
	conn, err := r.borrow(ctx)
	if err != nil {
		return nil, err
	}
	return reader{conn, r.idle}, nil
}

// tableSnapshot is a snapshot of the database.
type tableSnapshot struct {
	*sqldoc.Tx
	conn    *sqldoc.Conn
	journal named
	log     *auditLog // that was read last; nil: there are no packs
}

// begin begins a snapshot. SQLite takes it at the first read.
func begin(conn *sqldoc.Conn) (tableSnapshot, error) {
	if err := conn.Exec("BEGIN"); err != nil {
		return tableSnapshot{}, err
	}
	n, err := readNamed(conn)
	if err != nil {
		_ = conn.Exec("ROLLBACK")
		return tableSnapshot{}, err
	}
	return newSnapshot(conn, n, true), nil
}

func newSnapshot(conn *sqldoc.Conn, journal named, packs bool) tableSnapshot {
	s := tableSnapshot{Tx: conn.Begin(true), conn: conn, journal: journal}
	if packs {
		s.log = &auditLog{tx: s.Tx}
	}
	return s
}

// auditLog is the log of a tenant in this snapshot.
func (s tableSnapshot) auditLog(tenant string) *auditLog {
	if s.log.tenant != tenant {
		*s.log = auditLog{tx: s.Tx, tenant: tenant}
	}
	return s.log
}

// packed reports whether rows of a table are in packs too.
func (s tableSnapshot) packed(table *store.Table) bool { return table == store.Audit && s.log != nil }

// Get implements store.Tx.
func (s tableSnapshot) Get(table *store.Table, tenant, id string) (store.Row, error) {
	if !s.packed(table) {
		return s.Tx.Get(table, tenant, id)
	}
	return s.auditLog(tenant).get(id)
}

// List implements store.Tx.
func (s tableSnapshot) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if err := table.CheckQuery(q); err != nil || !s.packed(table) {
		return s.Tx.List(table, tenant, q)
	}
	return s.auditLog(tenant).list(q)
}

// Count implements store.Tx.
func (s tableSnapshot) Count(table *store.Table, tenant string, q store.Query) (int, error) {
	if err := table.CheckQuery(q); err != nil || !s.packed(table) {
		return s.Tx.Count(table, tenant, q)
	}
	return s.auditLog(tenant).count(q)
}

// Distinct implements store.Tx.
func (s tableSnapshot) Distinct(table *store.Table, tenant, column string) ([]string, error) {
	if err := table.CheckDistinct(column); err != nil || !s.packed(table) {
		return s.Tx.Distinct(table, tenant, column)
	}
	return s.auditLog(tenant).distinct(column)
}

// Tenants implements store.Whole.
func (s tableSnapshot) Tenants(table *store.Table) ([]string, error) {
	if !s.packed(table) {
		return s.Tx.Tenants(table)
	}
	return auditTenants(s.Tx)
}

// Close implements writebehind.Base.
func (s tableSnapshot) Close() {
	s.End()
	_ = s.conn.Exec("ROLLBACK")
}

func (r *readers) borrow(ctx context.Context) (*sqldoc.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-r.closing:
		return nil, store.ErrClosed
	default:
	}
	select {
	case conn := <-r.idle:
		return conn, nil
	case <-r.closing:
		return nil, store.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enter reports whether a View may begin; leave ends it.
func (r *readers) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.views.Add(1)
	}
	return !r.closed
}

func (r *readers) leave() { r.views.Done() }

// gather admits no more Views and waits for those that have begun.
func (r *readers) gather() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.views.Wait()
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

// Readers is how many Views run at once.
func (s *Store) Readers() int { return cap(s.readers.idle) }
