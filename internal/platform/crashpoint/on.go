//go:build crashpoints

// Package crashpoint names the places at which a crash matters. This build has the tag that
// activates them:
//
//	COUNTERSIGN_CRASH_AT=runrepo.applied.Returned:2   kills the process at the second pass
//	COUNTERSIGN_CRASH_TRACE=file                     writes every pass to the file
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
	passes int // passes left until the crash; 0: no crash
	trace  *os.File
}

// At passes a crash point. Its name is the place, a dot, and kind: a string itself, of any
// other value its type.
func At(place string, kind any) {
	at.once.Do(arm)
	name := nameOf(place, kind)
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.trace != nil {
		_, _ = fmt.Fprintln(at.trace, name) // the reader of the trace notices missing lines
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

// arm reads the settings of the test. An invalid setting ends the process at once: a test
// must not pass because its crash point was never reached.
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
	select {} // until the signal arrives
}
