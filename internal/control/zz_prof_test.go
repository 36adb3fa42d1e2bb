package control_test

import (
	"os"
	"slices"
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

func BenchmarkPairs(b *testing.B) {
	bed := openStepBed(b)
	bed.block("refund")
	bed.block("budgeted")
	var walls, cpus []float64
	var w, c [2]time.Duration
	for b.Loop() {
		for i := range 16 {
			var t, u [2]time.Duration
			for j := range 2 {
				k := (i + j) % 2
				t0, c0 := time.Now(), cpu()
				bed.part([]string{"refund", "budgeted"}[k], 25)
				t[k], u[k] = time.Since(t0), cpu()-c0
				w[k] += t[k]
				c[k] += u[k]
			}
			walls = append(walls, float64(t[1])/float64(t[0]))
			cpus = append(cpus, float64(u[1])/float64(u[0]))
		}
	}
	slices.Sort(walls)
	slices.Sort(cpus)
	b.ReportMetric(100*walls[len(walls)/2]-100, "wall-median-%")
	b.ReportMetric(100*cpus[len(cpus)/2]-100, "cpu-median-%")
	b.ReportMetric(100*float64(w[1])/float64(w[0])-100, "wall-%")
	b.ReportMetric(100*float64(c[1])/float64(c[0])-100, "cpu-%")
	b.ReportMetric(float64(c[0].Microseconds())/float64(b.N*16*250), "cpuµs-without")
	b.ReportMetric(float64(w[0].Microseconds())/float64(b.N*16*250), "wallµs-without")
}
