package retention

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// file is the archive file of a batch.
type file struct {
	name   string // path below the directory, with slashes
	sha256 string // of the file's bytes, as sha256sum prints it
	doc    []byte
}

// fileOf names a file by its tenant, its first day and its digest.
func fileOf(tenant string, first *countersign.Run, doc []byte) *file {
	digest := sha256.Sum256(doc)
	sum := hex.EncodeToString(digest[:])
	day := first.CreatedAt.UTC().Format("2006-01-02")
	return &file{name: path.Join(tenant, fmt.Sprintf("runs-%s-%s.jsonl.gz", day, sum[:16])), sha256: sum, doc: doc}
}

// remove removes a file, for good once it returns.
func (f *file) remove(dir string) error {
	target := filepath.Join(dir, filepath.FromSlash(f.name))
	if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return atomicfile.Sync(filepath.Dir(target))
}

// removeUnnamed removes a file that wasn't committed, unless another process has committed the very same:
// that is then the one to which a run of it leads.
func (f *file) removeUnnamed(ctx context.Context, s store.Store, dir, tenant, runID string) error {
	named := false
	err := s.View(ctx, func(tx store.Tx) error {
		left, _, err := records.ArchivedRuns.Get(tx, tenant, runID)
		if errors.Is(err, store.ErrNotFound) {
			named = false
			return nil
		}
		named = err != nil || left.File == f.name
		return err
	})
	if err != nil || named {
		return err
	}
	return f.remove(dir)
}

// write writes the file completely and syncs it, or leaves none. Replicas that share the
// directory write the same file for the same runs.
func (f *file) write(dir string) error {
	target := filepath.Join(dir, filepath.FromSlash(f.name))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	err := atomicfile.Create(target, func(w io.Writer) error {
		_, err := w.Write(f.doc)
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Sync(dir), atomicfile.Sync(filepath.Dir(dir))) // these directories may have new entries
}
