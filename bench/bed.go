package main

import (
	"flag"
	"os"
)

// workload is what every benchmark has the product do: runs of sequential signed
// POSTs, so many at once.
type workload struct {
	binary, dir string
	conc, steps int
}

func (w *workload) flags(f *flag.FlagSet) {
	f.StringVar(&w.binary, "binary", "../bin/countersign", "the built product")
	f.StringVar(&w.dir, "dir", "", "where to write; default: a temporary directory")
	f.IntVar(&w.conc, "runs", 4, "runs at once")
	f.IntVar(&w.steps, "steps", 10, "steps a run")
}

// bed is the running product and the API that it calls.
type bed struct {
	dir  string
	made bool // the directory is ours
	r    *receiver
	p    *product
}

func (w *workload) start() (*bed, error) {
	b := &bed{dir: w.dir}
	if err := b.start(w); err != nil {
		b.clear()
		return nil, err
	}
	return b, nil
}

func (b *bed) start(w *workload) (err error) {
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "countersign-bench-"); err != nil {
			return err
		}
		b.made = true
	}
	if b.r, err = newReceiver(w.steps); err != nil {
		return err
	}
	b.p = newProduct(w.binary, b.dir, b.r, w.conc)
	if err := b.p.start(); err != nil {
		return err
	}
	return b.p.prepare()
}

// clear leaves nothing running and no temporary file, however the benchmark went.
func (b *bed) clear() {
	if b.p != nil {
		b.p.kill()
	}
	if b.r != nil {
		_ = b.r.server.Close()
	}
	if b.made {
		_ = os.RemoveAll(b.dir)
	}
}
