package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// crashed returns what a crash leaves of a store that is at 6: the files as they are on the
// disk. The commits are in the log of the journal, and, written, also in that of the
// database.
func crashed(t *testing.T, written bool) (dir string, log []byte) {
	t.Helper()
	from, dir := t.TempDir(), t.TempDir()
	settings := withCheckpoints(1000, 1)
	if !written {
		settings.flushBytes = settings.mostPending
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := open(context.Background(), from, settings)
		mustDo(t, err)
		for n := 1; n <= 6; n++ {
			mustPutPair(t, s, n)
			synctest.Wait()
		}
		copyStore(t, dir, from)
		mustClose(t, s)
	})
	log, err := os.ReadFile(filepath.Join(dir, logOf(written)))
	mustDo(t, err)
	return dir, log
}

// logOf is the log that the commits of crashed are in.
func logOf(written bool) string {
	if written {
		return databaseFile + "-wal"
	}
	return journalFile + "-wal"
}

const frameSize = frameHeadSize + pageSize

func TestLogOfACrashIsReplayed(t *testing.T) {
	for _, written := range []bool{false, true} {
		dir, _ := crashed(t, written)
		wantPair(t, mustOpen(t, dir), 6)
	}
}

// TestTornLogLosesOnlyItsEnd cuts the log where a crash might have.
func TestTornLogLosesOnlyItsEnd(t *testing.T) {
	from, log := crashed(t, false)
	seen := map[int]bool{}
	for size := len(log); size >= 0; size -= frameSize / 2 {
		dir := t.TempDir()
		copyStore(t, dir, from)
		mustDo(t, os.WriteFile(filepath.Join(dir, journalFile+"-wal"), log[:size], 0o600))
		s, err := Open(context.Background(), dir)
		mustDo(t, err)
		got, err := readPair(s)
		mustDo(t, err)
		seen[got] = true
		mustClose(t, s)
	}
	if len(seen) != 7 {
		t.Errorf("cuts of the log led to %v, want all of 0 to 6", seen)
	}
}

// TestDamagedLogIsRefused flips bits of commits that have others behind them,
// which SQLite would forget with them.
func TestDamagedLogIsRefused(t *testing.T) {
	for _, written := range []bool{false, true} {
		t.Run(logOf(written), func(t *testing.T) { damagedLogIsRefused(t, written) })
	}
}

func damagedLogIsRefused(t *testing.T, written bool) {
	dir, log := crashed(t, written)
	path := filepath.Join(dir, logOf(written))
	last := len(log) - 3*frameSize // a commit of the pair has two or three frames
	for _, at := range []int{
		0, 9, 17, 30, // head of the log
		logHeadSize + 1, logHeadSize + 5, logHeadSize + 9, logHeadSize + 17, // head of a frame
		logHeadSize + frameHeadSize + 7, last - 3*frameSize,
	} {
		bad := append([]byte(nil), log...)
		bad[at] ^= 4
		mustDo(t, os.WriteFile(path, bad, 0o600))
		before := snapshot(t, dir)
		if err := wantRefused(t, dir, "is damaged"); err == nil {
			t.Errorf("a flipped bit at %d went unseen", at)
		}
		mustDo(t, os.RemoveAll(filepath.Join(dir, lockFile)))
		wantUnchanged(t, dir, before)
	}
	mustDo(t, os.WriteFile(path, log, 0o600))
	wantPair(t, mustOpen(t, dir), 6)
}

// TestAFlippedBitIsFoundUnlessTheLastCommitHasIt: in the page of any frame. Before
// the last commit it would undo what was acknowledged.
func TestAFlippedBitIsFoundUnlessTheLastCommitHasIt(t *testing.T) {
	_, log := crashed(t, false)
	path := filepath.Join(t.TempDir(), databaseFile+"-wal")
	frames := (len(log) - logHeadSize) / frameSize
	head := func(i int) []byte { return log[logHeadSize+i*frameSize:] }
	last := frames - 1 // where the last commit begins
	for last > 0 && binary.BigEndian.Uint32(head(last - 1)[4:]) == 0 {
		last--
	}
	if last < 4 {
		t.Fatalf("the log of six commits has %d frames", frames)
	}
	for i := range frames {
		bad := bytes.Clone(log)
		bad[logHeadSize+i*frameSize+frameHeadSize+100+i] ^= 1
		mustDo(t, os.WriteFile(path, bad, 0o600))
		if err := checkLog(path); (err != nil) != (i < last) {
			t.Errorf("a flipped bit in frame %d of %d, the last commit from %d on: %v", i, frames, last, err)
		}
	}
}

// TestLogThatStartedOverIsSound has frames of an earlier round behind its end.
func TestLogThatStartedOverIsSound(t *testing.T) {
	from := t.TempDir()
	s, err := open(context.Background(), from, withCheckpoints(30, 1))
	mustDo(t, err)
	defer mustClose(t, s)
	for n := 1; n <= 40; n++ {
		mustPutPair(t, s, n)
		for _, name := range []string{databaseFile, journalFile} {
			mustDo(t, checkLog(filepath.Join(from, name+"-wal")))
		}
	}
}
