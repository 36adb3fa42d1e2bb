package retention

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// file is a batch on its way to the disk.
type file struct {
	name   string // below the directory, with slashes
	sha256 string // of the file as it is, so that sha256sum tells it
	doc    []byte
}

// fileOf names a file by whose runs it holds, from which day on, and its content.
func fileOf(b *batch, doc []byte) *file {
	digest := sha256.Sum256(doc)
	sum := hex.EncodeToString(digest[:])
	day := b.runs[0].held.Run().CreatedAt.UTC().Format("2006-01-02")
	return &file{name: path.Join(b.tenant, fmt.Sprintf("runs-%s-%s.jsonl.gz", day, sum[:16])), sha256: sum, doc: doc}
}

// write puts the file where it belongs, whole and synced, or not at all.
func (f *file) write(dir string) error {
	target := filepath.Join(dir, filepath.FromSlash(f.name))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	temporary := target + ".new"
	if err := writeSynced(temporary, f.doc); err != nil {
		return err
	}
	if err := os.Rename(temporary, target); err != nil {
		return err
	}
	for _, d := range []string{filepath.Dir(target), dir, filepath.Dir(dir)} {
		if err := syncDirectory(d); err != nil {
			return err
		}
	}
	return nil
}

func writeSynced(name string, doc []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(doc)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// syncDirectory makes what was renamed in a directory durable.
func syncDirectory(name string) error {
	if runtime.GOOS == "windows" { // where a directory can't be synced, and needn't be
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}
