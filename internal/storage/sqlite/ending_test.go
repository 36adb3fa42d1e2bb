package sqlite

import (
	"context"
	"errors"
	"testing/synctest"

	"github.com/countersign/countersign/internal/storage/store"
)

// ending is how the process of a play ends.
type ending int

const (
	closes     ending = iota
	dies              // what it wrote is there
	losesPower        // what no sync has followed is lost
	losesHalf         // of it
	endings
)

// end mends the disk, ends the process and looks at what the next one finds.
func (p *play) end() {
	p.t.Helper()
	synctest.Wait()
	p.disk.mend()
	left := map[ending]string{}
	for e := dies; e < endings; e++ {
		if p.endsWith(e) {
			left[e] = p.leave(e)
		}
	}
	for _, dir := range left {
		p.wantAnswered(p.reopened(dir, plain))
	}
	p.goOn()
	p.close()
	if p.endsWith(closes) {
		p.liveOn()
	}
}

// endsWith chooses one ending a trial, so that the kinds of failing writes end in
// all ways together, or all of them.
func (p *play) endsWith(e ending) bool {
	f := p.fault
	turn := f.nth + int(f.on) + int(f.code)
	if f.short {
		turn += 2
	}
	if f.sticky {
		turn++
	}
	return ending(turn)%endings == e || *every && f.on&(reads|writes) == 0
}

// leave copies what the process would leave if it ended so now.
func (p *play) leave(e ending) (dir string) {
	p.t.Helper()
	dir = p.t.TempDir()
	copyStore(p.t, dir, p.dir)
	switch e {
	case losesPower:
		p.disk.losePower(p.t, dir, func(int) bool { return false })
	case losesHalf:
		p.disk.losePower(p.t, dir, func(i int) bool { return i%2 == p.fault.nth%2 })
	}
	return dir
}

// goOn: on a mended disk a store goes on without a restart, unless it is
// poisoned.
func (p *play) goOn() {
	p.t.Helper()
	if p.store == nil {
		return
	}
	p.check()
	err := p.store.Update(context.Background(), set("afterwards", 10))
	if p.poisoned != errors.Is(err, store.ErrUnavailable) {
		p.fatalf("Update on a mended disk, poisoned %t: %v", p.poisoned, err)
	}
	p.note(set("afterwards", 10), err, p.poisoned)
	p.check()
}

// close closes the store.
func (p *play) close() {
	p.t.Helper()
	if p.store == nil {
		return
	}
	failures := p.disk.failures()
	if err := p.store.Close(); err != nil && p.disk.failures() == failures {
		p.fatalf("Close: %v", err)
	}
	p.wantPoisonedByDoubtAlone()
	if n := p.disk.syncsAfterTheFailedOne(); n > 0 {
		p.fatalf("%d syncs after the failed one", n)
	}
	p.store = nil
}

// liveOn starts another process on the same disk. What that one answers outlives
// a power cut, whatever the one before has left in the kernel's memory.
func (p *play) liveOn() {
	p.t.Helper()
	p.disk.endProcess(p.t)
	settings := plain
	settings.vfs = faultyVFS
	s := p.reopened(p.dir, settings)
	if p.wantAnswered(s) {
		for _, c := range p.doubt {
			p.answered = append(p.answered, answered{change: c})
		}
	}
	p.doubt = nil
	mustDo(p.t, s.Update(context.Background(), set("later", 10)))
	p.answered = append(p.answered, answered{change: set("later", 10)})
	p.wantAnswered(p.reopened(p.leave(losesPower), plain))
}

// reopened opens a directory on a disk that doesn't fail.
func (p *play) reopened(dir string, settings settings) *Store {
	p.t.Helper()
	s, err := open(context.Background(), dir, settings)
	if err != nil {
		p.fatalf("the store doesn't open again: %v", err)
	}
	p.t.Cleanup(func() { mustClose(p.t, s) })
	return s
}

// wantAnswered finds in a store what was answered, and perhaps the commit that
// was in doubt, and says if that is so.
func (p *play) wantAnswered(s *Store) (doubtful bool) {
	p.t.Helper()
	got, err := p.contents(s)
	if err != nil {
		p.fatalf("View after a restart: %v", err)
	}
	if doubtful = len(p.doubt) > 0 && got == p.expected(p.doubt...); !doubtful {
		p.wantSame(got, p.expected())
	}
	return doubtful
}
