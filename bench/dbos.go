package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// dbos is DBOS Transact for Go on PostgreSQL, in a separate program (peers/dbos).
type dbos struct {
	server  *postgres
	r       *receiver
	process *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Scanner
}

// buildDBOS builds the program. The Go command downloads DBOS from the module proxy.
func buildDBOS(dir string) (binary string, err error) {
	binary = filepath.Join(dir, "dbos")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("peers", "dbos")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build DBOS: %w: %s", err, out)
	}
	return binary, nil
}

// startDBOS starts the program on a new database of the server.
func startDBOS(binary string, server *postgres, r *receiver) (*dbos, error) {
	url, err := server.database("dbos")
	if err != nil {
		return nil, err
	}
	p := &dbos{server: server, r: r}
	p.process = launch("", binary, "-database", url, "-url", r.origin+"/step", "-body", string(payload("bench", 1)), "-steps", strconv.Itoa(r.steps))
	p.process.Stderr = os.Stderr
	if p.orders, err = p.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.answers = bufio.NewScanner(out)
	p.answers.Buffer(nil, 64<<20)
	if err := p.process.Start(); err != nil {
		return nil, err
	}
	if !p.answers.Scan() || p.answers.Text() != "ready" {
		p.clear()
		return nil, fmt.Errorf("DBOS did not start")
	}
	return p, nil
}

func (p *dbos) name() string { return "DBOS Transact on PostgreSQL" }

func (p *dbos) drive(conc int, d time.Duration) (result, error) {
	var answer struct{ Starts []time.Duration }
	res, err := p.r.witness(func() error {
		if _, err := fmt.Fprintln(p.orders, conc, d); err != nil {
			return err
		}
		if !p.answers.Scan() {
			return fmt.Errorf("DBOS has ended unexpectedly")
		}
		return json.Unmarshal(p.answers.Bytes(), &answer)
	})
	res.starts = answer.Starts
	return res, err
}

func (p *dbos) roots() []int { return []int{p.process.Process.Pid, p.server.process.Process.Pid} }

func (p *dbos) storedBytes() (int64, error) { return p.server.storedBytes() }

func (p *dbos) syncs() (int, error) { return tracedSyncs(p.server.trace) }

func (p *dbos) clear() { kill(p.process) }
