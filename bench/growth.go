package main

import "fmt"

// growth measures what heartbeats alone add to the database. Its size is taken
// at rest: what the runs left in the log is then in the database before, and what
// the heartbeats left there counts after.
func (h *heartbeats) growth() (err error) {
	if h.before, err = h.p.rest(); err != nil {
		return err
	}
	if err := h.p.start(); err != nil {
		return err
	}
	x, err := h.observe("heartbeats", func(x *phase) error {
		x.tally = h.beat(h.alone)
		return nil
	})
	if err != nil {
		return err
	}
	h.hear(x)
	h.beats, h.log = x.accepted, x.log
	x.print("")
	h.after, err = h.p.rest()
	return err
}

// rest stops the product, which empties the log into the database, and gives the
// size of the database.
func (p *product) rest() (int64, error) {
	if err := p.stop(); err != nil {
		return 0, err
	}
	database, log, err := p.stored()
	if err == nil && log > 0 {
		err = fmt.Errorf("the product stopped with %d bytes in its log", log)
	}
	return database, err
}
