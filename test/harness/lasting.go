package harness

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// lastingTB is the testing.TB of a server that outlives the test that started it.
type lastingTB struct {
	testing.TB // nil: only the methods below are called
	dir        string

	mu       sync.Mutex
	cleanups []func()
	wrong    []string
}

func (l *lastingTB) Helper()      {}
func (l *lastingTB) Name() string { return "shared" }

func (l *lastingTB) TempDir() string {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		l.Fatal(err)
	}
	return l.dir
}

func (l *lastingTB) Cleanup(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cleanups = append(l.cleanups, f)
}

func (l *lastingTB) Error(args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprint(args...))
}

func (l *lastingTB) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }
func (l *lastingTB) Logf(format string, args ...any)   { l.Error(fmt.Sprintf(format, args...)) }

// fatal is the panic value of Fatal: within a test it fails the test, at the end it is recovered.
type fatal string

func (l *lastingTB) Fatal(args ...any) {
	l.Error(args...)
	panic(fatal(fmt.Sprint(args...)))
}
func (l *lastingTB) Fatalf(format string, args ...any) { l.Fatal(fmt.Sprintf(format, args...)) }

func (l *lastingTB) Failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.wrong) > 0
}

// end runs the cleanups, the latest first, and returns the errors.
func (l *lastingTB) end() []string {
	for _, f := range slices.Backward(l.cleanups) {
		runCaught(f)
	}
	return l.wrong
}

// runCaught runs a function that may end by Fatal.
func runCaught(f func()) {
	defer func() {
		if v := recover(); v != nil {
			if _, known := v.(fatal); !known {
				panic(v)
			}
		}
	}()
	f()
}
