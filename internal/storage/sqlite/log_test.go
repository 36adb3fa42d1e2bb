package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
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
		why := " is damaged: commits stand behind a bad frame"
		if at < logHeadSize {
			why = " is damaged: its head is bad"
		}
		if err := wantRefused(t, dir, path+why); err == nil {
			t.Errorf("a flipped bit at %d went unseen", at)
		}
		mustDo(t, os.RemoveAll(filepath.Join(dir, lockFile)))
		wantUnchanged(t, dir, before)
	}
	mustDo(t, os.WriteFile(path, log, 0o600))
	wantPair(t, mustOpen(t, dir), 6)
}

// TestAFlippedBitIsFoundUnlessTheLastCommitHasIt: any bit of the head of any frame, and some
// of its page. Before the last commit it would undo what was acknowledged.
func TestAFlippedBitIsFoundUnlessTheLastCommitHasIt(t *testing.T) {
	_, log := crashed(t, false)
	for name, log := range map[string][]byte{"of a store": log, "of commits of one frame": logOfCommits(5, 1), "of commits of two": logOfCommits(5, 2)} {
		t.Run(name, func(t *testing.T) {
			frames := (len(log) - logHeadSize) / frameSize
			size := func(i int) uint32 { return binary.BigEndian.Uint32(log[logHeadSize+i*frameSize+4:]) }
			last := frames - 1 // where the last commit begins
			for last > 0 && size(last-1) == 0 {
				last--
			}
			if last < 4 {
				t.Fatalf("the log has %d frames", frames)
			}
			wantFound := func(i, bit int) {
				bad := bytes.Clone(log)
				bad[logHeadSize+i*frameSize+bit/8] ^= 1 << (bit % 8)
				damage, err := damageOf(bytes.NewReader(bad))
				mustDo(t, err)
				if (damage != "") != (i < last) {
					t.Errorf("bit %d of frame %d of %d, the last commit from %d on: damage%s", bit, i, frames, last, damage)
				}
			}
			for i := range frames {
				wantFound(i, 8*(frameHeadSize+100+i))
				for bit := range 8 * frameHeadSize {
					wantFound(i, bit)
				}
			}
		})
	}
}

// logOfCommits makes a log of commits of so many frames each.
func logOfCommits(commits, frames int) []byte {
	l := logReader{order: binary.BigEndian, salts: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}}
	head := make([]byte, logHeadSize)
	binary.BigEndian.PutUint32(head, logMagic|1)
	binary.BigEndian.PutUint32(head[8:], pageSize)
	copy(head[16:], l.salts[:])
	put := func(to []byte, sums [2]uint32) {
		binary.BigEndian.PutUint32(to, sums[0])
		binary.BigEndian.PutUint32(to[4:], sums[1])
	}
	l.sums = l.add(l.sums, head[:24])
	put(head[24:], l.sums)
	log := head
	for n := range commits * frames {
		clear(l.frame[:])
		binary.BigEndian.PutUint32(l.frame[:], uint32(n%3+1))
		if n%frames == frames-1 {
			binary.BigEndian.PutUint32(l.frame[4:], 4) // one bit is set
		}
		copy(l.frame[8:], l.salts[:])
		copy(l.frame[frameHeadSize:], fmt.Sprintf("frame %d", n))
		l.sums = l.summed(l.sums)
		put(l.frame[16:], l.sums)
		log = append(log, l.frame[:]...)
	}
	return log
}

// TestLogThatStartedOverIsSound has frames of an earlier round behind its end. A log is read
// once the store has come to rest: a commit's rows are written to the database behind its
// back, and who reads a log while it starts over may see its old head above a new frame.
func TestLogThatStartedOverIsSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := t.TempDir()
		s, err := open(context.Background(), from, withCheckpoints(30, 1))
		mustDo(t, err)
		defer mustClose(t, s)
		for n := 1; n <= 40; n++ {
			mustPutPair(t, s, n)
			synctest.Wait()
			for _, name := range []string{databaseFile, journalFile} {
				mustDo(t, checkLog(filepath.Join(from, name+"-wal")))
			}
		}
	})
}
