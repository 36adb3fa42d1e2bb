package control_test

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkZZ(b *testing.B) {
	bed := openStepBed(b)
	kind := os.Getenv("KIND")
	bed.block(kind)
	b.ResetTimer()
	b.ReportAllocs()
	c := cpu()
	for b.Loop() {
		bed.block(kind)
	}
	n := float64(b.N * blockRuns * blockSteps)
	b.ReportMetric(float64((cpu()-c).Microseconds())/n, "cpuµs/step")
}
