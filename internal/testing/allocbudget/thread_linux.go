package allocbudget

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of this thread, and a function that returns it after the work;
// the goroutine is locked to the thread in between.
func threadTime() (begun time.Duration, end func() time.Duration) {
	runtime.LockOSThread()
	return ofThread(), func() time.Duration {
		defer runtime.UnlockOSThread()
		return ofThread()
	}
}

// ofThread reads the thread's CPU clock: getrusage is a tick late.
func ofThread() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		panic(err)
	}
	return time.Duration(at.Nano())
}
