package allocbudget

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor's time that this thread has had, and what says it again
// when the work is done; the goroutine stays on the thread between the two.
func threadTime() (begun time.Duration, end func() time.Duration) {
	runtime.LockOSThread()
	return ofThread(), func() time.Duration {
		defer runtime.UnlockOSThread()
		return ofThread()
	}
}

// ofThread asks the clock: getrusage is behind by a tick.
func ofThread() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		panic(err)
	}
	return time.Duration(at.Nano())
}
