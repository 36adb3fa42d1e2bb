package sqlite

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	codes "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/store"
)

// reserve is a file that reserves disk space. When the disk is full the file is truncated,
// and only urgent Updates may use its space: outcomes of calls that were made, which can't
// be asked for again (see store.Urgent). The file is filled again once twice its size is
// free, so that it is not truncated and filled in turn.
//
// The writer and the flusher use it.
type reserve struct {
	path  string
	size  int64
	mu    sync.Mutex // of changes
	spent atomic.Bool
}

// Sizes of the reserve: the largest holds several outcomes of a mebibyte each; a small
// disk gets a smaller one.
const (
	fullReserve  = 8 << 20
	leastReserve = 64 << 10
)

// openReserve fills the largest reserve for which there is space. If there is none, or
// files may not be so large, the store works without a reserve.
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

// fill takes the space. On an error it takes none.
func (r *reserve) fill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// spend frees the space.
func (r *reserve) spend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size > 0 && !r.spent.Load() {
		r.spent.Store(os.Truncate(r.path, 0) == nil)
	}
}

// spendIfFull frees the space if err says that the disk is full.
func (r *reserve) spendIfFull(err error) {
	if code(err) == codes.SQLITE_FULL {
		r.spend()
	}
}

// admits reports whether an Update may be tried: any while the reserve is there, else only
// an urgent one.
func (r *reserve) admits(urgent bool) bool {
	return !r.spent.Load() || urgent || r.fill() == nil
}

// refusal answers an Update that is not admitted.
func (r *reserve) refusal() error {
	return fmt.Errorf("%w: what is left is kept for the outcomes of calls; other writes go on once %d KiB are free", store.ErrFull, 2*r.size>>10)
}

// writeZeros takes space on systems without fallocate.
func writeZeros(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}
