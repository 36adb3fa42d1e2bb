package postgres

import (
	"strconv"
	"time"
)

// find finds out whether a batch whose COMMIT was not answered is committed, and if not sees
// to it that it never will be. It returns an error if it can't in time.
func (w *writer) find() (committed bool, err error) {
	lost := w.batch
	w.batch++ // no batch has the number that look stores
	until := time.Now().Add(w.settings.doubt)
	for pause := time.Duration(0); ; pause = nextPause(pause) {
		if committed, err = w.look(until, lost); err == nil {
			return committed, nil
		}
		w.notice(err)
		if time.Now().After(until) {
			return false, err
		}
		<-time.After(pause)
	}
}

// look reads the number of the writer's last committed batch. It locks the writer's row
// first, so that a transaction that had begun has ended. A batch that ran ahead may not have
// begun: its one message may still be on its way, and arrive when nobody waits for it any
// more. Its condition is the number of the batch before (see lockIf), so where the lost batch
// isn't there, look stores the number after it, in the same transaction: then the message
// fails, whenever it arrives. A look that arrives late itself changes nothing, since the
// numbers only rise.
//
// It ends with a COMMIT of its own: if commits wait for a standby, a server that crashed
// meanwhile may show a commit that no standby has, and the COMMIT returns only after the
// standby has both.
func (w *writer) look(until time.Time, lost int64) (committed bool, err error) {
	w.disconnect()
	s, err := w.connected(until)
	if err != nil {
		return false, err
	}
	number := strconv.FormatInt(lost, 10)
	row, err := w.take(s, "BEGIN ISOLATION LEVEL READ COMMITTED; "+
		w.settings.writing().text()+
		"; SELECT level FROM countersign_writer WHERE id = "+writerRow+" FOR UPDATE"+
		"; UPDATE countersign_batches SET batch = "+number+" + 1, at = now() WHERE writer = '"+w.id+"' AND batch < "+number+
		"; SELECT COALESCE((SELECT batch FROM countersign_batches WHERE writer = '"+w.id+"'), 0)"+
		"; COMMIT")
	if err != nil {
		return false, err
	}
	return row[0] == number, nil
}
