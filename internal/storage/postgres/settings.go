package postgres

import (
	"runtime"
	"time"

	"github.com/countersign/countersign/internal/storage/turns"
)

// settings are the bounds, which tests change. idle < lock <= statement < answer must
// hold: the server gives up before the client does, and a batch that waits for the writer's
// row outlasts a holder that stalls.
type settings struct {
	// statement bounds one statement, on the server. The longest, a list of the
	// audit, takes some tens of milliseconds.
	statement time.Duration
	// idle is how long the server lets a batch be idle between two statements. A running
	// batch pauses some hundred microseconds; a process stopped by a debugger, a
	// hypervisor or SIGSTOP loses its lock after this time. If the server can't notice,
	// the process that waits for the lock ends the session (see holder.go).
	idle time.Duration
	// lock bounds the wait for the writer's row. Other processes' batches take some
	// milliseconds each.
	lock time.Duration
	// reading is idle for a View, which holds no lock but delays VACUUM.
	reading time.Duration
	// answer is how long the client waits for the next bytes of an answer. Then the
	// connection counts as lost: the server would have answered by then.
	answer time.Duration
	// connect bounds connecting to each of several hosts.
	connect time.Duration
	// patience is how long an Update or a View tries to get a usable connection, so that a
	// restart or a failover of some seconds only delays it.
	patience time.Duration
	// doubt is how long the writer tries to find out the outcome of a COMMIT without an
	// answer. A lost transaction holds its lock for idle at most; a failover takes some
	// seconds.
	doubt time.Duration
	// readers is how many Views run at once. One more connection writes, and one checks
	// the holder of the writer's row while a batch waits long for it.
	readers int
	// farFrom is how long a message to the server and back takes if most of that is the network's
	// share; far says that it takes as long.
	farFrom time.Duration
	far     bool
	// aheadFor is how long after a commit a batch may run ahead (see ahead.go); 0: none does.
	// A message that has both the first statement and the COMMIT leaves the outcome unknown
	// if the connection turns out to be lost, and the longer nothing was heard on it, the
	// likelier it is.
	aheadFor time.Duration
	// aheadAfter is how many batches in succession nobody else has written between before one
	// runs ahead. If others write after all, it has waited for the lock in vain.
	aheadAfter int
	// draftFor is how old what functions have made while the batch waited for the lock may be:
	// they compare times with that of the moment. 0: they run once it has the lock.
	draftFor time.Duration
	// batchTime is how long the functions of a batch take before it takes no further one.
	batchTime time.Duration
	// linger is how long a batch that runs ahead waits for one more Update, if the batch
	// before had several: those who had their answers a moment ago soon ask for more, and a
	// commit that they share costs the database as much as one of its own.
	linger time.Duration
}

func defaults() settings {
	return settings{
		statement:  10 * time.Second,
		idle:       5 * time.Second,
		lock:       10 * time.Second,
		reading:    time.Minute,
		answer:     15 * time.Second,
		connect:    3 * time.Second,
		patience:   5 * time.Second,
		doubt:      30 * time.Second,
		farFrom:    time.Millisecond,
		readers:    min(max(4, 2*runtime.GOMAXPROCS(0)), maxReaders),
		aheadFor:   time.Second,
		aheadAfter: 3,
		draftFor:   time.Second,
		batchTime:  turns.BatchTime,
		linger:     250 * time.Microsecond,
	}
}

// maxReaders bounds the connections of Views: a server has 100 by default.
const maxReaders = 16

// at adapts the settings to how long a message to the server and back takes. Beyond a few,
// more Views at once only take turns on the server's processors, unless they wait for the
// network most of the time.
func (s settings) at(roundTrip time.Duration) settings {
	if s.far = roundTrip >= s.farFrom; s.far {
		s.readers = maxReaders
	}
	return s
}

// The pauses between tries to connect double from the first to the last.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

func nextPause(pause time.Duration) time.Duration { return min(max(2*pause, firstPause), lastPause) }
