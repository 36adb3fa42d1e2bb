package typed

import (
	"errors"
	"os"

	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// WriteNew writes a new file; it replaces an existing one only with force.
func WriteNew(path string, data []byte, force bool) error {
	f, err := openNew(path, 0o644, force)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func openNew(path string, access os.FileMode, force bool) (*os.File, error) {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, mode, access)
	if errors.Is(err, os.ErrExist) {
		return nil, terminal.Unusablef("%s is there already; --force overwrites it, or name another file", path)
	}
	if err != nil {
		return nil, terminal.Unusablef("%v", err)
	}
	return f, nil
}

// ownersOnly is the access of a file that its owner alone may read.
const ownersOnly = 0o600

// WriteOwners is writeNew for a file that only its owner may read, also if it replaces a
// file that others could read. It leaves the access rights of a device as they are.
func WriteOwners(path string, data []byte, force bool) error {
	f, err := openNew(path, ownersOnly, force)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = f.Chmod(ownersOnly)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Close())
}
