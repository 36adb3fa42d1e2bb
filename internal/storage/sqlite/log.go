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
// must not start. A flipped bit within the last commit can't be told from an incomplete
// write.
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
	l.add(head[:24])
	sound := magic&^1 == logMagic && binary.BigEndian.Uint32(head[8:]) == pageSize && l.agree(head[24:])
	if !sound {
		return false, l.read(l.frame[:1])
	}
	return true, nil
}

// lostCommits counts the commits that end with the first bad frame, according to its
// header, or with a valid frame after it. Other bad frames don't count: they may be the
// remains of a transaction that was rolled back.
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

// endsCommit reports the last frame of a commit since the log was restarted.
func (l *logReader) endsCommit() bool {
	return binary.BigEndian.Uint32(l.frame[4:]) != 0 && [8]byte(l.frame[8:16]) == l.salts
}

// next reports whether the frame continues the one before it. Frames from before the log
// was restarted have other salts.
func (l *logReader) next() bool {
	l.add(l.frame[:8])
	l.add(l.frame[frameHeadSize:])
	sound := [8]byte(l.frame[8:16]) == l.salts && l.agree(l.frame[16:24])
	l.sums = [2]uint32{binary.BigEndian.Uint32(l.frame[16:]), binary.BigEndian.Uint32(l.frame[20:])}
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

func (l *logReader) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		l.sums[0] += l.order.Uint32(b) + l.sums[1]
		l.sums[1] += l.order.Uint32(b[4:]) + l.sums[0]
	}
}

func (l *logReader) agree(b []byte) bool {
	return binary.BigEndian.Uint32(b) == l.sums[0] && binary.BigEndian.Uint32(b[4:]) == l.sums[1]
}
