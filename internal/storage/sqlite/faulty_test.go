package sqlite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	lib "modernc.org/sqlite/lib"
)

// operation is a kind of call to the disk.
type operation int

const (
	reads operation = 1 << iota
	writes
	truncates
	syncs
	opens
	deletes
	maps // of the log's index into memory
)

// anErrorOf is what the system's VFS says when a call of this kind gets EIO, and
// what the kind is called.
var anErrorOf = map[operation]struct {
	code int32
	name string
}{
	reads:     {lib.SQLITE_IOERR_READ, "reads"},
	writes:    {lib.SQLITE_IOERR_WRITE, "writes"},
	truncates: {lib.SQLITE_IOERR_TRUNCATE, "truncates"},
	syncs:     {lib.SQLITE_IOERR_FSYNC, "syncs"},
	opens:     {lib.SQLITE_CANTOPEN, "opens"},
	deletes:   {lib.SQLITE_IOERR_DELETE, "deletes"},
	maps:      {lib.SQLITE_IOERR_SHMMAP, "maps"},
}

// fault says which call fails, and how.
type fault struct {
	on      operation // one kind or several
	nth     int       // counted from 1 among those kinds; 0 is never
	sticky  bool      // all later ones fail too
	code    int32     // 0: that of anErrorOf
	short   bool      // of a write, half of the bytes arrive first
	holding string    // only calls with this text among their bytes count
}

// disk is what one store directory lies on: the system's, which counts the calls
// and fails some of them.
type disk struct {
	mu         sync.Mutex
	fault      fault
	seen       int               // calls that count for the fault
	fired      int               // calls that were failed
	calls      map[operation]int // since it was broken or mended last
	syncsSince int               // syncs of the database whose sync was failed first, from that on
	unsynced   string            // that database
	platters   map[string]*platter
	stamped    bool
	moment     func(operation) // called at each call, before anything of it is done
	unasked    []string        // calls that failed by themselves: this machine's disk is full or broken
}

// disks are the disks that tests made, by directory, and those under the open
// files of SQLite.
var disks struct {
	sync.Mutex
	byDirectory map[string]*disk
	byFile      map[uintptr]openFile
}

type openFile struct {
	disk *disk
	path string
}

// newDisk puts a disk under a directory for the time of a test.
func newDisk(t *testing.T, dir string) *disk {
	t.Helper()
	registerFaulty(t)
	dir, err := filepath.EvalSymlinks(dir)
	mustDo(t, err)
	d := &disk{calls: map[operation]int{}, platters: map[string]*platter{}}
	disks.Lock()
	defer disks.Unlock()
	if disks.byDirectory == nil {
		disks.byDirectory, disks.byFile = map[string]*disk{}, map[uintptr]openFile{}
	}
	disks.byDirectory[dir] = d
	t.Cleanup(func() {
		disks.Lock()
		defer disks.Unlock()
		delete(disks.byDirectory, dir)
	})
	return d
}

// diskUnder is the disk of a path; nil where no test has put one.
func diskUnder(path string) *disk {
	disks.Lock()
	defer disks.Unlock()
	return disks.byDirectory[filepath.Dir(path)]
}

func noteFile(file uintptr, d *disk, path string) {
	disks.Lock()
	defer disks.Unlock()
	disks.byFile[file] = openFile{d, path}
}

func fileAt(file uintptr) openFile {
	disks.Lock()
	defer disks.Unlock()
	return disks.byFile[file]
}

// fail makes the disk fail from now on as f says.
func (d *disk) fail(f fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.seen, d.fired, d.calls, d.syncsSince = f, 0, 0, map[operation]int{}, 0
	d.unsynced = ""
}

// mend ends the faults. What was counted is kept.
func (d *disk) mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault.nth = 0
}

// hasFired says whether a call was failed.
func (d *disk) hasFired() bool { return d.failures() > 0 }

func (d *disk) failures() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fired
}

// counted are the calls of each kind.
func (d *disk) counted() map[operation]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[operation]int{}
	for on, n := range d.calls {
		out[on] = n
	}
	return out
}

// syncsAfterTheFailedOne counts them, failed ones too; 0 when none has failed. A
// database in the making doesn't count: it is nobody's until all of it is synced
// anew, under its own name.
func (d *disk) syncsAfterTheFailedOne() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(0, d.syncsSince-1)
}

// meets says with which code a call fails, SQLITE_OK if it doesn't, and whether
// half of its bytes arrive.
func (d *disk) meets(on operation, content []byte) (code int32, short bool) {
	if d == nil {
		return lib.SQLITE_OK, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[on]++
	if d.moment != nil {
		d.moment(on)
	}
	if !d.strikes(on, content) {
		return lib.SQLITE_OK, false
	}
	d.fired++
	if d.fault.code != 0 {
		return d.fault.code, d.fault.short
	}
	return anErrorOf[on].code, d.fault.short
}

// itself notes how a call to the machine's own disk ended.
func (d *disk) itself(on operation, code int32) int32 {
	if d != nil && code != lib.SQLITE_OK {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.unasked = append(d.unasked, fmt.Sprintf("%s: code %d", anErrorOf[on].name, code))
	}
	return code
}

// ownFailures tells a test that fails because of the machine from one that fails
// because of the store.
func (d *disk) ownFailures() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.unasked) == 0 {
		return ""
	}
	return fmt.Sprintf("\nthe machine's own disk failed too: %s", d.unasked)
}

// strikes says whether this call is one that fails.
func (d *disk) strikes(on operation, content []byte) bool {
	f := d.fault
	if f.on&on == 0 || f.nth == 0 || !bytes.Contains(content, []byte(f.holding)) {
		return false
	}
	d.seen++
	return d.seen == f.nth || d.seen > f.nth && f.sticky
}
