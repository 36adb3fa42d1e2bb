//go:build crashpoints

// Package crashpoint names the edges at which a crash matters. This build has
// the tag that makes them real:
//
//	COUNTERSIGN_CRASH_AT=runrepo.applied.Returned:2   dies at the second passage
//	COUNTERSIGN_CRASH_TRACE=file                     writes down every passage
package crashpoint

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

var at struct {
	once   sync.Once
	mu     sync.Mutex
	point  string
	passes int // until it dies; 0: never
	trace  *os.File
}

// At passes a point. The name of a point is the place, a dot, and what passes
// it: a text itself, the type of anything else.
func At(place string, kind any) {
	at.once.Do(arm)
	name := nameOf(place, kind)
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.trace != nil {
		_, _ = fmt.Fprintln(at.trace, name) // who reads it notices what is missing
	}
	if name != at.point || at.passes == 0 {
		return
	}
	if at.passes--; at.passes == 0 {
		die()
	}
}

func nameOf(place string, kind any) string {
	switch v := reflect.ValueOf(kind); v.Kind() {
	case reflect.Invalid:
		return place
	case reflect.String:
		return place + "." + v.String()
	default:
		return place + "." + v.Type().Name()
	}
}

// arm reads what the test wants. A setting that makes no sense ends the process
// at once: a test must not pass because its point never came.
func arm() {
	var err error
	if path := os.Getenv("COUNTERSIGN_CRASH_TRACE"); path != "" {
		at.trace, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if setting := os.Getenv("COUNTERSIGN_CRASH_AT"); setting != "" && err == nil {
		name, passes, _ := strings.Cut(setting, ":")
		at.point = name
		at.passes, err = strconv.Atoi(passes)
	}
	if err != nil {
		panic(err)
	}
}

// die ends the process as kill -9 does: nothing is flushed, closed or deferred.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}
