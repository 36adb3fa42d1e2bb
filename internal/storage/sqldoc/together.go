package sqldoc

import "fmt"

// storeAll is store for several different rows in one message.
func (t *Tx) storeAll(places []place, entries []entry) error {
	if err := t.writable(); err != nil {
		return err
	}
	calls := make([]Call, 0, len(places))
	var of []int // the place that a call is about; -1: it needn't change a row
	for i, p := range places {
		on, e := t.conn.on(p.table), &entries[i]
		if e.version == 0 || e.stored == unread {
			calls, of = append(calls, Call{on.remove.text, []any{p.tenant, p.id}}), append(of, -1)
		}
		if e.version == 0 {
			continue
		}
		args := append(make([]any, 0, len(e.keys)+5), p.tenant, p.id, e.version, e.doc)
		args = append(args, e.keys...)
		if e.stored <= 0 {
			calls = append(calls, Call{on.insert.text, args})
		} else {
			calls = append(calls, Call{on.rewrite.text, append(args, e.stored)})
		}
		of = append(of, i)
	}
	changed, err := t.conn.dialect.Together(t.conn.conn, calls)
	if err != nil {
		t.err = t.conn.mean(err)
		return fmt.Errorf("write %d rows: %w", len(places), t.err)
	}
	for i, n := range changed {
		if of[i] >= 0 && n == 0 {
			return conflict(places[of[i]], entries[of[i]].stored)
		}
	}
	return nil
}
