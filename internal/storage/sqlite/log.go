package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// After a crash the write-ahead log holds the commits since the last checkpoint, and
// perhaps part of an unfinished one. SQLite reads it up to the first frame with a wrong
// checksum and silently ignores the rest, so one flipped bit would undo acknowledged
// commits. A crash can't do that: a commit begins only after the one before it is synced.
// So if two or more commits end at or after the first bad frame, or the header is bad
// although frames follow it (it is synced before them), the log is damaged and the store
// must not start. Any part of the bad frame may be what is damaged, so none of it alone says
// whether it ended a commit. A flipped bit within the last commit can't be told from an
// incomplete write.
//
// See sqlite.org/walformat.html.
const (
	logHeadSize   = 32
	frameHeadSize = 24
	logMagic      = 0x377f0682 // the last bit tells the byte order of the sums
)

// checkLog refuses a damaged log. No log, or one without frames, is fine.
func checkLog(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	damage, err := damageOf(bufio.NewReaderSize(f, 1<<18))
	if err == nil && damage != "" {
		err = fmt.Errorf("%s is damaged%s; restore the store from a backup", path, damage)
	}
	return err
}

// damageOf reads a log, and says what of it a crash can't have done.
func damageOf(log io.Reader) (string, error) {
	r := logReader{r: log}
	switch sound, err := r.head(); {
	case errors.Is(err, io.EOF):
		return "", nil
	case err != nil:
		return "", err
	case !sound:
		return ": its head is bad", nil
	}
	lost, err := r.lostCommits()
	if err == nil && lost > 1 {
		return ": commits stand behind a bad frame", nil
	}
	return "", err
}

// rewriteLog makes the log durable as it reads now. After a failed sync the kernel may
// still serve pages that it will never write; at a power cut they would be lost, and with
// them every commit after them, synced or not. The kernel writes only pages that are
// written to again, so each byte is overwritten with itself.
func rewriteLog(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(io.NewOffsetWriter(f, 0), justReader{f}, make([]byte, 1<<18))
	return errors.Join(err, f.Sync(), f.Close())
}

// justReader hides the other methods, so that io.Copy doesn't let the kernel copy.
type justReader struct{ io.Reader }

// logReader reads a log from its beginning to its end.
type logReader struct {
	r     io.Reader
	order binary.ByteOrder
	salts [8]byte
	sums  [2]uint32 // of everything so far, as the frame before says
	other [2]uint32 // of everything so far, as computed, behind a frame that says something else
	frame [frameHeadSize + pageSize]byte
}

// head reads the header of the log and reports whether it is valid; io.EOF if no frame
// follows it.
func (l *logReader) head() (bool, error) {
	head := l.frame[:logHeadSize]
	if err := l.read(head); err != nil {
		return false, err
	}
	magic := binary.BigEndian.Uint32(head)
	l.order = binary.ByteOrder(binary.LittleEndian)
	if magic&1 == 1 {
		l.order = binary.BigEndian
	}
	copy(l.salts[:], head[16:24])
	l.sums = l.add(l.sums, head[:24])
	l.other = l.sums
	sound := magic&^1 == logMagic && binary.BigEndian.Uint32(head[8:]) == pageSize && areSums(head[24:], l.sums)
	if !sound {
		return false, l.read(l.frame[:1])
	}
	return true, nil
}

// lostCommits counts the commits that end with the first bad frame or with a valid frame after
// it. Other bad frames don't count: they may be the remains of a transaction that was rolled
// back.
func (l *logReader) lostCommits() (lost int, err error) {
	for intact := true; ; {
		if err := l.read(l.frame[:]); errors.Is(err, io.EOF) {
			return lost, nil
		} else if err != nil {
			return 0, err
		}
		before := l.sums
		sound := l.next()
		ends := l.endsCommit()
		if intact && !sound {
			ends = l.endedCommit(before)
		}
		if ends && (sound != intact) {
			lost++
		}
		intact = intact && sound
	}
}

// endsCommit reports the last frame of a commit since the log was restarted.
func (l *logReader) endsCommit() bool { return l.size() != 0 && l.salted() }

// endedCommit reports that the first bad frame was the last one of a commit since the log was
// restarted. Each of its fields may be the one that is damaged: where the sums agree with
// everything up to the frame but for one bit of its head, it was written whole, with that bit
// as it then is; where they don't, its size and salts are taken as they are.
func (l *logReader) endedCommit(before [2]uint32) bool {
	if l.wholeSince(before) {
		return l.size() != 0
	}
	for bit := range 8 * 8 { // page number and size; the salts are not in the sums
		l.frame[bit/8] ^= 1 << (bit % 8)
		whole, ends := l.wholeSince(before), l.size() != 0
		l.frame[bit/8] ^= 1 << (bit % 8)
		if whole {
			return ends
		}
	}
	return l.endsCommit()
}

// wholeSince reports that the frame's sums, following these, are those of its content.
func (l *logReader) wholeSince(sums [2]uint32) bool {
	return l.says(l.summed(sums))
}

func (l *logReader) size() uint32 { return binary.BigEndian.Uint32(l.frame[4:]) }

func (l *logReader) salted() bool { return [8]byte(l.frame[8:16]) == l.salts }

// next reports whether the frame continues the one before it, by what that says the sums are
// or by what they were. Frames from before the log was restarted have other salts.
func (l *logReader) next() bool {
	computed := l.summed(l.sums)
	sound := l.salted() && (l.says(computed) || l.other != l.sums && l.says(l.summed(l.other)))
	l.sums, l.other = [2]uint32{binary.BigEndian.Uint32(l.frame[16:]), binary.BigEndian.Uint32(l.frame[20:])}, computed
	return sound
}

// read fills b; a truncated read counts as the end.
func (l *logReader) read(b []byte) error {
	_, err := io.ReadFull(l.r, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// summed adds the frame, without what it says the sums are.
func (l *logReader) summed(sums [2]uint32) [2]uint32 {
	return l.add(l.add(sums, l.frame[:8]), l.frame[frameHeadSize:])
}

func (l *logReader) add(sums [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		sums[0] += l.order.Uint32(b) + sums[1]
		sums[1] += l.order.Uint32(b[4:]) + sums[0]
	}
	return sums
}

// says reports that these are the sums in the frame.
func (l *logReader) says(sums [2]uint32) bool { return areSums(l.frame[16:24], sums) }

func areSums(b []byte, sums [2]uint32) bool {
	return binary.BigEndian.Uint32(b) == sums[0] && binary.BigEndian.Uint32(b[4:]) == sums[1]
}
