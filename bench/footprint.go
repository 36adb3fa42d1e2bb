package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// footprint has the sizes in bytes of the store's database file, of its logs and journal, and of the
// resident memory of the process.
type footprint struct{ database, log, memory int64 }

func (p *product) footprint() (x footprint, err error) {
	if x.database, x.log, err = p.stored(); err != nil {
		return x, err
	}
	x.memory, err = p.resident()
	return x, err
}

// storeLogs are the files of a store that hold what is not in its database yet.
var storeLogs = []string{"countersign.db-wal", "countersign.journal", "countersign.journal-wal"}

// stored returns the sizes of the database file, and of its logs and journal. The product may be stopped.
func (p *product) stored() (database, log int64, err error) {
	if database, err = size(filepath.Join(p.dir, "countersign.db")); err != nil {
		return 0, 0, err
	}
	for _, name := range storeLogs {
		n, err := size(filepath.Join(p.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a stopped store has neither
			return 0, 0, err
		}
		log += n
	}
	return database, log, nil
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (p *product) resident() (int64, error) {
	doc, err := p.proc("status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(doc, "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("the process's status has no VmRSS")
	}
	kB, err := strconv.ParseInt(fields[0], 10, 64)
	return kB << 10, err
}
