package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// platter is what a file holds for certain, and what was written to it since:
// what no sync has followed, a power cut takes.
type platter struct {
	durable []byte
	pending []pending
}

// pending is a write, or, without content, a cut at the offset.
type pending struct {
	offset  int64
	content []byte
}

// done returns what a file becomes of it.
func (p pending) done(file []byte) []byte {
	if p.content == nil {
		return file[:min(p.offset, int64(len(file)))]
	}
	if missing := p.offset + int64(len(p.content)) - int64(len(file)); missing > 0 {
		file = append(file, make([]byte, missing)...)
	}
	copy(file[p.offset:], p.content)
	return file
}

// track begins to remember a file when SQLite opens it first, or after somebody
// wrote it with plain I/O, which syncs at once.
func (d *disk) track(path string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noteRename(path)
	info, err := os.Stat(path)
	rewritten := err == nil && d.stamped && !info.ModTime().Equal(stamp)
	if d.platters[path] == nil || rewritten {
		content, _ := os.ReadFile(path) // nothing, if it is new
		d.platters[path] = &platter{durable: content}
	}
}

// noteRename forgets what was known of a path if a complete file was renamed to it since then.
// It was synced before, so what it holds now is there for certain.
func (d *disk) noteRename(path string) {
	made := path + newSuffix
	if d.platters[made] == nil {
		return
	}
	if _, err := os.Lstat(made); errors.Is(err, fs.ErrNotExist) {
		delete(d.platters, made)
		delete(d.platters, path)
	}
}

// stamp is a time at which nobody wrote.
var stamp = time.Unix(1, 0)

// endProcess lets what the next process writes with plain I/O be told from what
// this one wrote through SQLite. A failed sync binds only the process that saw it.
func (d *disk) endProcess(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncsSince, d.unsynced, d.stamped = 0, "", true
	for path := range d.platters {
		switch err := os.Chtimes(path, stamp, stamp); {
		case errors.Is(err, fs.ErrNotExist):
			delete(d.platters, path) // it was removed with plain I/O, and another file may get its name
		case err != nil:
			t.Fatal(err)
		}
	}
}

func (d *disk) forget(path string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.platters, path)
}

func (d *disk) note(path string, p pending) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.platters[path].pending = append(d.platters[path].pending, p.pieces()...)
}

// pieces are what a disk may write of a call by themselves: a power cut may take any
// of them and leave the others.
func (p pending) pieces() (all []pending) {
	const piece = 4096
	for len(p.content) > piece {
		all = append(all, pending{p.offset, p.content[:piece]})
		p.offset, p.content = p.offset+piece, p.content[piece:]
	}
	return append(all, p)
}

// synced ends a sync. When it failed, the kernel has given up what it couldn't
// write, although it still shows it: a later sync succeeds without it.
func (d *disk) synced(path string, written bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	of := strings.TrimSuffix(filepath.Base(path), "-wal")
	if !written && d.unsynced == "" && !strings.HasSuffix(of, newSuffix) {
		d.unsynced = of
	}
	if of == d.unsynced {
		d.syncsSince++
	}
	p := d.platters[path]
	for _, each := range p.pending {
		if written {
			p.durable = each.done(p.durable)
		}
	}
	p.pending = nil
}

// losePower makes of dir, a copy of the disk's directory, what a power cut could
// leave. kept says which of the calls that no sync has followed have reached the
// platter all the same.
func (d *disk) losePower(t *testing.T, dir string, kept func(i int) bool) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, p := range d.platters {
		copied := filepath.Join(dir, filepath.Base(path))
		if _, err := os.Stat(copied); errors.Is(err, fs.ErrNotExist) {
			continue // it was renamed when it was complete and synced
		}
		file := append([]byte(nil), p.durable...)
		for i, each := range p.pending {
			if kept(i) {
				file = each.done(file)
			}
		}
		mustDo(t, os.WriteFile(copied, file, 0o600))
	}
}
