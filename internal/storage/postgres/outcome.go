package postgres

import (
	"strconv"
	"time"
)

// find finds out whether the batch whose COMMIT wasn't answered is committed. An
// error says that this could not be known in time.
func (w *writer) find() (committed bool, err error) {
	until := time.Now().Add(w.settings.doubt)
	for pause := time.Duration(0); ; pause = nextPause(pause) {
		if committed, err = w.look(until); err == nil {
			return committed, nil
		}
		w.notice(err)
		if time.Now().After(until) {
			return false, err
		}
		<-time.After(pause)
	}
}

// look reads the number of the writer's last batch that is committed, once nobody
// holds the writer's row: the lost transaction has ended then, one way or the other.
// It commits, having locked a row: where commits wait for a standby, a server that
// crashed meanwhile shows one that no standby has, and this one comes after it.
func (w *writer) look(until time.Time) (committed bool, err error) {
	w.disconnect()
	s, err := w.connected(until)
	if err != nil {
		return false, err
	}
	row, err := w.take(s, "BEGIN ISOLATION LEVEL READ COMMITTED; "+
		limits(true, w.settings.statement, w.settings.lock, w.settings.idle)+
		"; SELECT level FROM countersign_writer WHERE id = "+writerRow+" FOR UPDATE"+
		"; SELECT COALESCE((SELECT batch FROM countersign_batches WHERE writer = '"+w.id+"'), 0)"+
		"; COMMIT")
	if err != nil {
		return false, err
	}
	return row[0] == strconv.FormatInt(w.batch, 10), nil
}
