package receiver

import (
	"context"
	"database/sql"
)

// SQLTransactions is a SQLStore for effects in the same database, each of which happens
// exactly once. The key, the effect that the handler performs with TxFrom, and the answer
// are committed in one transaction. A crash, a panic, or a 4xx or 5xx answer rolls all of it
// back, so no key is ever in doubt. A duplicate request waits until the first one has ended
// and gets its answer.
//
// Don't use it for a handler with an effect outside of that transaction, for example at a
// payment provider: a rollback would not undo that effect, and a repeated call would perform
// it again. Use a SQLStore there.
//
// On PostgreSQL the isolation level must be READ COMMITTED, the default.
type SQLTransactions struct{ *SQLStore }

// NewSQLTransactions makes a SQLTransactions that keeps keys in db.
func NewSQLTransactions(db *sql.DB, p Placeholders) SQLTransactions {
	return SQLTransactions{NewSQLStore(db, p)}
}

// Begin implements Transactor.
func (s SQLTransactions) Begin(ctx context.Context) (Transaction, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return sqlTransaction{s.In(tx), tx}, nil
}

type sqlTransaction struct {
	Store
	tx *sql.Tx
}

func (t sqlTransaction) Tx() *sql.Tx { return t.tx }

func (t sqlTransaction) Finish(ctx context.Context, key string, a Answer) error {
	if err := t.Store.Finish(ctx, key, a); err != nil {
		return err
	}
	return t.tx.Commit()
}

func (t sqlTransaction) Release(context.Context, string) error { return t.tx.Rollback() }

func (t sqlTransaction) Rollback() { _ = t.tx.Rollback() } // after Finish or Release the error is sql.ErrTxDone
