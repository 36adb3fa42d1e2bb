package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LastWrite is what is known of a store's directory without opening the store.
type LastWrite struct {
	Exists  bool // holds a store
	InUse   bool // by a process
	Bytes   int64
	Written time.Time // when a file of it was last changed
}

// Look inspects a directory without changing it. Of a store that no process uses it
// checks the header and the log as a start would.
func Look(dir string) (s LastWrite, err error) {
	for _, name := range ownNames() {
		info, err := os.Stat(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(name, databaseFile) && !strings.HasPrefix(name, journalFile) {
			continue
		}
		if err != nil {
			return s, err
		}
		s.Exists = s.Exists || name == databaseFile
		s.Bytes += info.Size()
		if info.ModTime().After(s.Written) {
			s.Written = info.ModTime()
		}
	}
	if !s.Exists {
		return s, nil
	}
	leave, free, err := visit(dir)
	if err != nil {
		return s, err
	}
	s.InUse = !free
	return s, leave()
}
