package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// workload is the work that the product does in each benchmark: conc concurrent runs of
// steps sequential signed POSTs.
type workload struct {
	binary, dir string
	conc, steps int
}

func (w *workload) flags(f *flag.FlagSet) {
	f.StringVar(&w.binary, "binary", "../bin/countersign", "the built product")
	f.StringVar(&w.dir, "dir", "", "where to write, in a temporary directory; default: that of the system")
	f.IntVar(&w.steps, "steps", 10, "steps a run")
}

// testbed has the running product and the API that it calls, and the processes of the other
// contenders if they are started.
type testbed struct {
	dir     string
	r       *receiver
	p       *product
	server  *postgres // nil: none
	dbos    *dbos     // nil: none
	earlier *product  // nil: none
}

// isBuilt returns an error that names the file if there is no such binary.
func isBuilt(binary string) error {
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("the product is not built: %w", err)
	}
	return nil
}

// newTestbed starts the API and makes a temporary directory.
func (w *workload) newTestbed() (b *testbed, err error) {
	if err := isBuilt(w.binary); err != nil {
		return nil, err
	}
	b = &testbed{}
	if b.dir, err = makeTemporary(w.dir); err != nil {
		return nil, err
	}
	if b.r, err = newReceiver(w.steps); err != nil {
		b.clear()
		return nil, err
	}
	return b, nil
}

// start makes a testbed and starts the product on its embedded store.
func (w *workload) start(traced bool) (*testbed, error) {
	b, err := w.newTestbed()
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

// addEarlier starts an earlier build of the product on a separate store.
func (t *testbed) addEarlier(binary string, conc int) error {
	t.earlier = newProduct(binary, filepath.Join(t.dir, "before"), t.r, conc)
	t.earlier.title = "Countersign before"
	if err := t.earlier.start(); err != nil {
		return err
	}
	return t.earlier.prepare()
}

// addDBOS starts DBOS on its own PostgreSQL server. The binary is the result of buildDBOS.
func (t *testbed) addDBOS(binary string, traced bool) (err error) {
	if t.server, err = startPostgres(t.dir, traced); err != nil {
		return err
	}
	t.dbos, err = startDBOS(binary, t.server, t.r)
	return err
}

// clear ends all processes and removes all temporary files, also after an error.
func (t *testbed) clear() {
	if t.p != nil {
		t.p.clear()
	}
	if t.earlier != nil {
		t.earlier.clear()
	}
	if t.dbos != nil {
		t.dbos.clear()
	}
	if t.server != nil {
		t.server.clear()
	}
	if t.r != nil {
		_ = t.r.server.Close()
	}
	removeTemporary(t.dir)
}

// peer is the built program that runs DBOS.
type peer struct {
	binary string
	absent error // why DBOS can't be measured; nil: it can
}

// findPeer checks that PostgreSQL is installed and builds DBOS into the directory.
func findPeer(dir string) (p peer) {
	if _, p.absent = postgresPrograms(); p.absent == nil {
		p.binary, p.absent = buildDBOS(dir)
	}
	if p.absent != nil {
		fmt.Fprintln(os.Stderr, "NOT MEASURED: DBOS:", p.absent)
	}
	return p
}
