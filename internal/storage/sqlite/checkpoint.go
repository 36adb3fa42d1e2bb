package sqlite

import (
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// checkpointer keeps the write-ahead log of a database short. Whoever owns the connection
// that writes calls it between two transactions.
type checkpointer struct {
	conn    *sqldoc.Conn
	every   int // pages
	at      int // pages in the log, not yet in the database
	restart int // pages in the log, in the database or not
	pause   time.Duration
}

func newCheckpointer(conn *sqldoc.Conn, s settings) *checkpointer {
	return &checkpointer{conn: conn, every: s.checkpointPages, at: s.checkpointPages, restart: 2 * s.checkpointPages, pause: s.startOverPause}
}

// checkpoint copies the pages of the write-ahead log into the database once enough of them
// are not copied yet. It runs between two transactions, since SQLite restarts the log only
// if all of it was copied before the next write. On a full disk the pages stay in the log
// and nothing is lost. The caller poisons the store after a failed sync.
func (c *checkpointer) checkpoint() error {
	now, err := c.run("NOOP")
	if err != nil {
		return err // an unreadable log will fail the next transaction
	}
	if now.pending() >= c.at {
		if now, err = c.run("PASSIVE"); err != nil {
			return err
		}
		// A View may need older pages, or the disk may be full: don't retry after
		// every transaction.
		c.at = now.pending() + c.every
	}
	if now.pages >= c.restart {
		return c.startOver(now)
	}
	return nil
}

// startOver restarts the log while Views overlap all the time. At any moment some View
// began before the last transaction and needs pages of the log, so no checkpoint between two
// of them is complete. So writing pauses twice: until all Views that began before the last
// transaction have ended, so that every page can be copied; and until all Views that began
// before that copy was complete have ended. Views that begin later don't need the log. New
// Views may begin throughout. If a View takes longer than the pause, startOver gives up
// until the log has doubled: a backup of an hour then costs a few pauses instead of
// thousands.
func (c *checkpointer) startOver(now logState) error {
	c.restart = 2 * now.pages
	if err := c.busyTimeout(0); err != nil {
		return err
	}
	// An error of this changes nothing: no other process writes, so no lock is waited for.
	defer func() { _ = c.busyTimeout(busyTimeout) }()
	until := time.Now().Add(c.pause)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		after, err := c.run("RESTART")
		switch {
		case err != nil:
			return err
		case !after.busy:
			c.restart = 2 * c.every
			return nil
		case time.Now().After(until):
			return nil
		}
		time.Sleep(pause)
	}
}

// busyTimeout sets how long SQLite waits for locks. startOver sets it to
// zero: readers that overlap share one lock, which may never be free.
func (c *checkpointer) busyTimeout(d time.Duration) error {
	return c.conn.Exec("PRAGMA busy_timeout(" + strconv.FormatInt(d.Milliseconds(), 10) + ")")
}

// empty empties the log when the store closes. Pages that it can't copy are safe in the
// log.
func (c *checkpointer) empty() error {
	_, err := c.run("TRUNCATE")
	return err
}

// logState is the size of the log after a checkpoint, in pages.
type logState struct {
	pages  int
	copied int  // how many of them are in the database
	busy   bool // a reader or writer kept the checkpoint from doing all that its kind does
}

func (l logState) pending() int { return l.pages - l.copied }

// run runs a checkpoint of a kind (NOOP, PASSIVE, RESTART, TRUNCATE) and returns the size of
// the log after it.
func (c *checkpointer) run(kind string) (l logState, err error) {
	var busy int
	crashpoint.At("sqlite.checkpoint", kind)
	err = c.conn.QueryRow("PRAGMA wal_checkpoint("+kind+")", &busy, &l.pages, &l.copied)
	crashpoint.At("sqlite.checkpointed", kind)
	l.busy = busy != 0
	return l, err
}
