package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// together sends statements in one message: a batch of sixty Updates writes some hundred
// rows, and all other processes wait during each round trip.
func together(conn *sql.Conn, calls []sqldoc.Call) (changed []int64, err error) {
	var b pgx.Batch
	for _, c := range calls {
		b.Queue(c.Text, c.Args...)
	}
	err = conn.Raw(func(c any) error {
		answers := c.(*stdlib.Conn).Conn().SendBatch(context.Background(), &b)
		for range calls {
			tag, err := answers.Exec()
			if err != nil {
				_ = answers.Close() // it gives the same error
				return err
			}
			changed = append(changed, tag.RowsAffected())
		}
		return answers.Close()
	})
	return changed, err
}

// askTogether sends queries in one message and returns the row of each.
func askTogether(conn *sql.Conn, calls []sqldoc.Call) (rows [][]any, err error) {
	var b pgx.Batch
	for _, c := range calls {
		b.Queue(c.Text, c.Args...)
	}
	err = conn.Raw(func(c any) error {
		answers := c.(*stdlib.Conn).Conn().SendBatch(context.Background(), &b)
		for range calls {
			row, err := oneRow(answers)
			if err != nil {
				_ = answers.Close() // it gives the same error
				return err
			}
			rows = append(rows, row)
		}
		return answers.Close()
	})
	return rows, err
}

func oneRow(answers pgx.BatchResults) (row []any, err error) {
	found, err := answers.Query()
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		if row, err = found.Values(); err != nil {
			return nil, err
		}
	}
	return row, found.Err()
}
