package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// workload is what every benchmark has the product do: runs of sequential signed
// POSTs, so many at once.
type workload struct {
	binary, dir string
	conc, steps int
}

func (w *workload) flags(f *flag.FlagSet) {
	f.StringVar(&w.binary, "binary", "../bin/countersign", "the built product")
	f.StringVar(&w.dir, "dir", "", "where to write, in a temporary directory; default: that of the system")
	f.IntVar(&w.steps, "steps", 10, "steps a run")
}

// bed is the running product and the API that it calls. What the contenders need
// beside it is added to it.
type bed struct {
	dir     string
	r       *receiver
	p       *product
	server  *postgres // nil: none
	dbos    *dbos     // nil: none
	earlier *product  // nil: none
}

// newBed makes the API and a directory to write to.
func (w *workload) newBed() (b *bed, err error) {
	b = &bed{}
	if b.dir, err = makeTemporary(w.dir); err != nil {
		return nil, err
	}
	if b.r, err = newReceiver(w.steps); err != nil {
		b.clear()
		return nil, err
	}
	return b, nil
}

// start makes a bed with the product on its embedded store.
func (w *workload) start(traced bool) (*bed, error) {
	b, err := w.newBed()
	if err != nil {
		return nil, err
	}
	b.p = newProduct(w.binary, b.dir, b.r, w.conc)
	if traced {
		b.p.trace = filepath.Join(b.dir, "syncs")
	}
	if err = b.p.start(); err == nil {
		err = b.p.prepare()
	}
	if err != nil {
		b.clear()
		return nil, err
	}
	return b, nil
}

// addBefore adds an earlier build of the product, on a store of its own.
func (b *bed) addBefore(binary string, conc int) error {
	b.earlier = newProduct(binary, filepath.Join(b.dir, "before"), b.r, conc)
	b.earlier.called = "Countersign before"
	if err := b.earlier.start(); err != nil {
		return err
	}
	return b.earlier.prepare()
}

// addDBOS adds it, on a PostgreSQL of its own. The binary is what buildDBOS made.
func (b *bed) addDBOS(binary string, traced bool) (err error) {
	if b.server, err = startPostgres(b.dir, traced); err != nil {
		return err
	}
	b.dbos, err = startDBOS(binary, b.server, b.r)
	return err
}

// clear leaves nothing running and no temporary file, however the benchmark went.
func (b *bed) clear() {
	if b.p != nil {
		b.p.clear()
	}
	if b.earlier != nil {
		b.earlier.clear()
	}
	if b.dbos != nil {
		b.dbos.clear()
	}
	if b.server != nil {
		b.server.clear()
	}
	if b.r != nil {
		_ = b.r.server.Close()
	}
	removeTemporary(b.dir)
}

// peer is what is needed to measure DBOS, or why it can't be.
type peer struct {
	binary string
	absent error
}

// findPeer looks for PostgreSQL and builds DBOS into the directory.
func findPeer(dir string) (p peer) {
	if _, p.absent = postgresPrograms(); p.absent == nil {
		p.binary, p.absent = buildDBOS(dir)
	}
	if p.absent != nil {
		fmt.Fprintln(os.Stderr, "NOT MEASURED: DBOS:", p.absent)
	}
	return p
}
