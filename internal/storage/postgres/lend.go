package postgres

import (
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// transaction is the writer's, as a batch sees it.
type transaction struct {
	*session
	writer *writer
}

// Exec implements sqldoc.Host.
func (t transaction) Exec(text string) error {
	_, err := t.run(text)
	return err
}

// Broken implements sqldoc.Host.
func (t transaction) Broken(err error) error {
	if passes(err) || t.lost() {
		return t.mean(err)
	}
	t.writer.notice(err)
	return nil
}

func (w *writer) anybodyWrote() bool {
	for _, r := range w.members {
		if r.Err() == nil {
			return true
		}
	}
	return false
}

// runAll lends the transaction to the members, one by one, and to those who
// wait, who become members.
func (w *writer) runAll(b *sqldoc.Batch) error {
	for i := 0; w.member(i); i++ {
		if err := b.Run(w.members[i]); err != nil {
			return err
		}
		crashpoint.At("postgres.lent", nil)
	}
	return nil
}

// member says whether there is a member of that number, or somebody to become it.
func (w *writer) member(i int) bool {
	if i < len(w.members) || i == maxBatch {
		return i < len(w.members)
	}
	r := w.next()
	if r != nil {
		w.members = append(w.members, r)
	}
	return r != nil
}
