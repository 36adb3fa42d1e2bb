package sqlite

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

// reserve is a file that holds space back. When the disk is full it is given up,
// and only what can't wait is written into its place: outcomes of calls that were
// made, which nobody could ask for a second time (see store.Urgent). It is taken
// up again as soon as there is space for it twice, so that giving it up and
// taking it up can't chase each other.
//
// It belongs to the writer's goroutine, but for spent, which others read.
type reserve struct {
	path  string
	size  int64
	spent atomic.Bool // read by others too
}

// Sizes of the reserve: enough for some outcomes of a mebibyte each; on a small
// disk less, down to a few small ones.
const (
	fullReserve  = 8 << 20
	leastReserve = 64 << 10
)

// openReserve takes up as much as there is space for. Without any, or where files
// can't be of this size, the store goes on without.
func openReserve(path string) *reserve {
	r := &reserve{path: path, size: fullReserve}
	if info, err := os.Lstat(path); err == nil && info.Size() >= leastReserve {
		r.size = info.Size()
		return r
	}
	for ; r.size >= leastReserve; r.size /= 2 {
		err := r.fill()
		if err == nil {
			return r
		}
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
			break
		}
	}
	return &reserve{path: path}
}

// fill takes the space up; an error leaves none taken.
func (r *reserve) fill() error {
	if r.size == 0 {
		r.spent.Store(false)
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = allocate(f, 2*r.size); err == nil {
		err = f.Truncate(r.size)
	}
	if err != nil {
		err = errors.Join(err, f.Truncate(0))
	}
	r.spent.Store(err != nil)
	return errors.Join(err, f.Close())
}

// spend gives the space up.
func (r *reserve) spend() {
	if r.size > 0 && !r.spent.Load() {
		r.spent.Store(os.Truncate(r.path, 0) == nil)
	}
}

// admits says whether an Update may be tried: always while the reserve is there,
// else only what can't wait.
func (r *reserve) admits(urgent bool) bool {
	return !r.spent.Load() || urgent || r.fill() == nil
}

// writeZeros takes up space where nothing better is known.
func writeZeros(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}
