package receiver

import (
	"context"
	"database/sql"
)

// SQLTransactions is a SQLStore for effects in the same database: exactly once.
// The key, the effect that the handler makes with TxFrom, and the answer are one
// transaction. A crash, a panic, an answer 5xx or 4xx undo all of it, so no key is
// ever in doubt; a twin waits for the first one's end and gets its answer.
//
// It is wrong for a handler that does anything outside of that transaction, such
// as asking a payment provider: a rollback would not undo that, and the call would
// do it again. Use a SQLStore there.
//
// On PostgreSQL the database's isolation must be READ COMMITTED, its default.
type SQLTransactions struct{ *SQLStore }

// NewSQLTransactions keeps keys in db.
func NewSQLTransactions(db *sql.DB, p Placeholders) SQLTransactions {
	return SQLTransactions{NewSQLStore(db, p)}
}

// Begin begins the transaction of one call.
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

func (t sqlTransaction) Rollback() { _ = t.tx.Rollback() } // sql.ErrTxDone after the end
