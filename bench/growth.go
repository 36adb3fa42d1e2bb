package main

import "fmt"

// growth measures by how much heartbeats alone make the database grow. It measures the size
// while the product is stopped and the log is empty: the first size then includes all writes
// of the earlier runs, and the second one all writes of the heartbeats.
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
	h.addCounts(x)
	h.beats, h.log = x.accepted, x.log
	x.print("")
	h.after, err = h.p.rest()
	return err
}

// rest stops the product, which moves the log into the database, and returns the size of the
// database.
func (p *product) rest() (int64, error) {
	if err := p.stop(); err != nil {
		return 0, err
	}
	database, log, err := p.stored()
	if err == nil && log > 0 {
		err = fmt.Errorf("the product stopped and left %d bytes in its log", log)
	}
	return database, err
}
