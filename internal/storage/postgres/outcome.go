package postgres

import (
	"strconv"
	"time"
)

// find finds out whether a batch whose COMMIT was not answered is committed. It returns an
// error if it can't find out in time.
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

// look reads the number of the writer's last committed batch. It locks the writer's row
// first, so the lost transaction has ended. It ends with a COMMIT of its own: if commits
// wait for a standby, a server that crashed meanwhile may show a commit that no standby
// has, and the COMMIT returns only after the standby has both.
func (w *writer) look(until time.Time) (committed bool, err error) {
	w.disconnect()
	s, err := w.connected(until)
	if err != nil {
		return false, err
	}
	row, err := w.take(s, "BEGIN ISOLATION LEVEL READ COMMITTED; "+
		w.settings.writing().text()+
		"; SELECT level FROM countersign_writer WHERE id = "+writerRow+" FOR UPDATE"+
		"; SELECT COALESCE((SELECT batch FROM countersign_batches WHERE writer = '"+w.id+"'), 0)"+
		"; COMMIT")
	if err != nil {
		return false, err
	}
	return row[0] == strconv.FormatInt(w.batch, 10), nil
}
