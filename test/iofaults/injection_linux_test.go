package iofaults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// enough is the number of injections from which on a third must fail a call of the service. Of a few random ones most may
// be after the last call.
const enough = 60

// kinds are the failing calls, used in turn, with the distance between failing calls.
var kinds = []struct {
	injection
	step, within int
}{
	{injection{calls: "fsync,fdatasync", errno: "EIO"}, 3, 17},
	{injection{calls: "pwrite64", errno: "EIO"}, 27, 157},
	{injection{calls: "fsync,fdatasync", errno: "EIO", sticky: true}, 5, 17},
	{injection{calls: "pwrite64", errno: "ENOSPC", sticky: true}, 41, 157},
	{injection{calls: "pwrite64", errno: "EDQUOT"}, 53, 157},
	{injection{calls: "ftruncate,fallocate", errno: "EIO"}, 1, 4},
}

// injectionAt distributes the failing calls over a start and the traffic after it. With -short, which has less traffic,
// they are among the first third.
func injectionAt(n uint64) injection {
	k := kinds[n%uint64(len(kinds))]
	within := k.within
	if testing.Short() {
		within = 1 + within/3
	}
	k.nth = 1 + int(n/uint64(len(kinds))*uint64(k.step)%uint64(within))
	return k.injection
}

// TestCallsThatFail lets system calls of the service fail, each in a separate process, and checks the process and what the
// next one finds.
func TestCallsThatFail(t *testing.T) {
	tracer := tracer(t)
	if tracer == "" {
		return
	}
	b := newBed(t, t.TempDir(), harness.Set("STOP_GRACE", "1s")) // an outcome may never be stored
	b.Kill()
	fired, refused := 0, 0
	seeds, first := from.Kept(t), from.First(t)
	for n := range uint64(injections.N()) {
		seeds = append(seeds, first+n)
	}
	for n, seed := range seeds {
		i := injectionAt(seed)
		hit, up := b.meets(tracer, i, n)
		t.Logf("%v (-from %d): met %t, up %t", i, seed, hit, up)
		if hit {
			fired++
		}
		if !up {
			refused++
		}
	}
	t.Logf("%d of %d injections met the service, %d of them at its start", fired, len(seeds), refused)
	if least := len(seeds) / 3; fired == 0 || len(seeds) >= enough && fired < least {
		t.Error("too few calls were failed")
	}
}

// TestALogOfACrashIsSyncedBeforeAnythingElse: the log may be only in the kernel's cache, so the service must sync it before it
// relies on it.
func TestALogOfACrashIsSyncedBeforeAnythingElse(t *testing.T) {
	tracer := tracer(t)
	if tracer == "" {
		return
	}
	b := newBed(t, t.TempDir())
	b.Kill()
	if _, up := b.meets(tracer, injection{calls: "fsync,fdatasync", errno: "EIO", nth: 1}, 0); up {
		t.Error("the first sync failed, and the server started")
	}
}

// meets plays one injection. fired reports whether a call failed, up whether the service had started.
func (b *bed) meets(tracer string, i injection, n int) (fired, up bool) {
	b.t.Helper()
	self, err := os.Executable()
	mustDo(b.t, err)
	trace := filepath.Join(b.t.TempDir(), "trace")
	p := &promises{injection: i}
	b.Use(self)
	b.MayLogErrors(true)
	if up = b.Begin(i.under(tracer, trace)); up {
		b.traffic(p, n)
		b.end(p, n)
	} else {
		p.status = b.Wait()
	}
	fired = injected(b.t, trace)
	b.wantEnding(p, fired, up)
	b.comesBack(p, n)
	return fired, up
}

// comesBack starts the service without faults, and stops or kills it.
func (b *bed) comesBack(p *promises, n int) {
	b.t.Helper()
	b.Use(binary)
	b.Restart()
	b.MayLogErrors(false)
	b.keeps(p)
	if n%2 == 0 {
		b.Kill()
	} else {
		b.Stop()
	}
}

// end ends a server that survived the fault, by a stop or a kill; a server that dies of the fault ends by itself.
func (b *bed) end(p *promises, n int) {
	b.t.Helper()
	switch {
	case p.dying:
		began := time.Now()
		p.status = b.Wait()
		if took := time.Since(began); *within > 0 && took > *within {
			b.t.Errorf("%v: the process took %s to end", p.injection, took)
		}
	case n%2 == 0:
		b.Kill()
		p.status = -1
	default:
		b.Terminate()
		p.status = b.Wait()
	}
}

// wantEnding: after a failed sync the service ends, after other faults it goes on, and a refused start says why.
func (b *bed) wantEnding(p *promises, fired, up bool) {
	b.t.Helper()
	switch {
	case !up && (!fired || p.status != 1 || !strings.HasPrefix(b.Log(), "countersign: ") || strings.Count(b.Log(), "\n") != 1):
		b.t.Errorf("%v: the server did not start, and ended with %d:\n%s", p.injection, p.status, b.Log())
	case up && p.injection.ofSync() && fired && p.status != 1:
		b.t.Errorf("%v: the server went on after a failed sync, and ended with %d:\n%s", p.injection, p.status, b.Log())
	case up && p.dying && !p.injection.ofSync():
		b.t.Errorf("%v: the server ended:\n%s", p.injection, b.Log())
	}
}
