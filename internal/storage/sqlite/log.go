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

// The write-ahead log after a crash holds the commits since the last checkpoint
// and then, perhaps, torn remains of the one that wasn't finished. SQLite reads
// it up to the first frame that doesn't check and forgets the rest without a
// word, so that one flipped bit would undo commits that were acknowledged. A
// crash can't have done that: a commit is begun only when the one before it is
// synced. So if two commits or more end at or behind the first bad frame, or the
// head is bad although frames follow it (it is synced before them), the log is
// damaged and the store must not start. A flipped bit within the last commit
// can't be told from a write that was torn.
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
	r := logReader{r: bufio.NewReaderSize(f, 1<<18)}
	switch sound, err := r.head(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case !sound:
		return fmt.Errorf("%s is damaged: restore the store from a backup", path)
	}
	lost, err := r.lostCommits()
	if err == nil && lost > 1 {
		err = fmt.Errorf("%s is damaged: commits stand behind a bad frame; restore the store from a backup", path)
	}
	return err
}

// rewriteLog makes the log durable as it is read now. After a sync that failed
// the kernel may go on showing what it has given up writing, until the machine is
// switched off: commits that came to stand behind it would be lost with it, synced
// or not. Only what is written anew will be tried anew, so each byte is written
// over itself.
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

// justReader hides everything else: the kernel must not be asked to copy.
type justReader struct{ io.Reader }

// logReader reads a log from its beginning to its end.
type logReader struct {
	r     io.Reader
	order binary.ByteOrder
	salts [8]byte
	sums  [2]uint32 // of everything so far, as the frame before says
	frame [frameHeadSize + pageSize]byte
}

// head reads the head of the log and says whether it is sound; io.EOF if there
// is no frame behind it.
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
	l.add(head[:24])
	sound := magic&^1 == logMagic && binary.BigEndian.Uint32(head[8:]) == pageSize && l.agree(head[24:])
	if !sound {
		return false, l.read(l.frame[:1])
	}
	return true, nil
}

// lostCommits counts the commits that end with the first bad frame, as far as its
// head says, or with a sound one behind it. Other bad frames don't count: they may
// be what is left of a transaction that was taken back.
func (l *logReader) lostCommits() (lost int, err error) {
	for intact := true; ; {
		if err := l.read(l.frame[:]); errors.Is(err, io.EOF) {
			return lost, nil
		} else if err != nil {
			return 0, err
		}
		sound := l.next()
		first := intact && !sound
		intact = intact && sound
		if l.endsCommit() && (first || sound && !intact) {
			lost++
		}
	}
}

// endsCommit reports a frame that is the last one of a commit since the log last
// started over.
func (l *logReader) endsCommit() bool {
	return binary.BigEndian.Uint32(l.frame[4:]) != 0 && [8]byte(l.frame[8:16]) == l.salts
}

// next says whether the frame continues the one before it. The salts tell it
// from what is left of before the log last started over.
func (l *logReader) next() bool {
	l.add(l.frame[:8])
	l.add(l.frame[frameHeadSize:])
	sound := [8]byte(l.frame[8:16]) == l.salts && l.agree(l.frame[16:24])
	l.sums = [2]uint32{binary.BigEndian.Uint32(l.frame[16:]), binary.BigEndian.Uint32(l.frame[20:])}
	return sound
}

// read fills b; what is cut short counts as not there.
func (l *logReader) read(b []byte) error {
	_, err := io.ReadFull(l.r, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

func (l *logReader) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		l.sums[0] += l.order.Uint32(b) + l.sums[1]
		l.sums[1] += l.order.Uint32(b[4:]) + l.sums[0]
	}
}

func (l *logReader) agree(b []byte) bool {
	return binary.BigEndian.Uint32(b) == l.sums[0] && binary.BigEndian.Uint32(b[4:]) == l.sums[1]
}
