package batches

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// A function that needs what isn't known can be put off: the others run first, and what all
// of them need is asked for in one message, instead of one message each while all other
// writers wait.

// ErrPutOff says that a function needs rows or counts that aren't known. It was undone; run
// it again after Fetch.
var ErrPutOff = errors.New("batches: the function needs what is to be fetched")

// wanted are rows and counts to be fetched.
type wanted struct {
	rows    []cached
	tallies []tally
}

// unique is without what is wanted twice: many starts need one project.
func (w wanted) unique() wanted {
	seen := map[string]bool{}
	again := func(key string) bool {
		was := seen[key]
		seen[key] = true
		return was
	}
	w.rows = slices.DeleteFunc(w.rows, func(row cached) bool { return again(row.key()) })
	w.tallies = slices.DeleteFunc(w.tallies, func(t tally) bool { return again(t.key()) })
	return w
}

// PutOff has functions put off that need what isn't known, until Fetch.
func (b *Batch) PutOff(yes bool) { b.putsOff = yes && !b.inSavepoints && b.conn.AsksTogether() }

// maxPutOff bounds how often a function is put off in a batch. It may ask for something else
// each time, such as a row whose id it has just drawn.
const maxPutOff = 3

// wants puts the function off, if that may be. Until it returns it gets no other answer.
func (t *Tx) wants(rows []cached, tallies []tally) bool {
	if !t.mayPutOff {
		return false
	}
	w := &t.batch.wanted
	w.rows, w.tallies = append(w.rows, rows...), append(w.tallies, tallies...)
	_ = t.fail(ErrPutOff)
	return true
}

// Fetch gets what the functions that were put off need.
func (b *Batch) Fetch() error {
	w := b.wanted.unique()
	b.wanted = wanted{}
	if err := b.conn.Use(); err != nil {
		return err
	}
	for _, of := range w.tallies {
		if _, ok := b.unwritten(of); !ok {
			if err := b.flush(func(table *store.Table) bool { return table == of.table }); err != nil {
				return err
			}
		}
	}
	for i := range w.tallies {
		w.tallies[i].n, _ = b.unwritten(w.tallies[i]) // to which is added what the database has
	}
	answers, err := b.ask(w.rows, w.tallies)
	if err != nil {
		err = b.conn.Mean(err)
		return b.cause(err, fmt.Errorf("fetch %d rows and %d counts: %w", len(w.rows), len(w.tallies), err))
	}
	for i, answer := range answers[:len(w.rows)] {
		if _, known := b.peek(w.rows[i].place); known {
			continue // another function has written it since
		}
		e, err := recalled(answer)
		if err != nil {
			return fmt.Errorf("fetch %s %s: %w", w.rows[i].table.Name, w.rows[i].id, err)
		}
		e.asked = true
		b.known[w.rows[i].place] = e
	}
	return b.take(w.tallies, answers[len(w.rows):])
}

// take keeps the answers to counts.
func (b *Batch) take(tallies []tally, answers [][]any) error {
	for i, t := range tallies {
		n, isNumber := answers[i][0].(int64)
		if !isNumber {
			return fmt.Errorf("count %s: the answer is a %T", t.table.Name, answers[i][0])
		}
		t.n += int(n)
		b.remember(t.table.CountKey(t.tenant, t.where), t)
	}
	return nil
}
