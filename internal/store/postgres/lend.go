package postgres

import "github.com/countersign/countersign/internal/crashpoint"

func (w *writer) anybodyWrote() bool {
	for _, r := range w.members {
		if r.err == nil {
			return true
		}
	}
	return false
}

// lendToAll lends the transaction to the members, one by one, and to those who
// wait, who become members, until the transaction itself is broken.
func (w *writer) lendToAll(s *session) error {
	marked := true // a savepoint is set and nothing has been done since
	for i := 0; w.member(i); i++ {
		if !marked {
			if _, err := s.run("RELEASE SAVEPOINT turn; SAVEPOINT turn"); err != nil {
				return err
			}
		}
		var err error
		if marked, err = w.lend(s, w.members[i]); err != nil {
			return err
		}
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

// lend runs one function. One that fails is undone alone, and the savepoint then
// is as before; an error is returned only if the whole transaction is lost.
func (w *writer) lend(s *session, r *request) (marked bool, err error) {
	tx := s.conn.Begin(false)
	if !r.lend(tx) {
		return true, nil
	}
	crashpoint.At("postgres.lent", nil)
	tx.End()
	if err := tx.Err(); err != nil {
		if passes(err) || s.lost() {
			return false, s.mean(err)
		}
		w.notice(err)
		if r.err == nil {
			r.err = err // fn swallowed it, but the statement did not happen
		}
	}
	if r.err == nil {
		return false, nil
	}
	_, err = s.run("ROLLBACK TO SAVEPOINT turn")
	return true, err
}
