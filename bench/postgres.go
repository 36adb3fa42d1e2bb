package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// postgres is a PostgreSQL server started for the benchmark. It has the default settings
// except for the number of connections; fsync is on. If the benchmark runs as root, the
// server runs as another user.
type postgres struct {
	programs, dir string
	port          int
	as            *syscall.Credential // nil: the user of this process
	process       *exec.Cmd
	trace         string    // file for the trace of its syncs; "": they aren't counted
	away          *distance // between the server and the contenders; nil: none
}

var errNoPostgres = errors.New("PostgreSQL is not installed (Debian's package is postgresql)")

func startPostgres(dir string, traced bool) (s *postgres, err error) {
	s = &postgres{}
	if s.programs, err = postgresPrograms(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp(dir, "postgres-"); err != nil {
		return nil, err
	}
	if traced {
		s.trace = filepath.Join(s.dir, "syncs")
	}
	if err = errors.Join(s.become(), s.choosePort()); err == nil {
		err = s.start()
	}
	if err != nil {
		s.clear()
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return s, nil
}

func postgresPrograms() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		found, err = filepath.EvalSymlinks(found)
		return filepath.Dir(found), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, errNoPostgres)
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// become chooses the user that the server runs as, since PostgreSQL refuses to run as root.
func (p *postgres) become() error {
	if os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return err
	}
	p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(os.Chown(p.dir, int(uid), int(gid)), os.Chmod(filepath.Dir(p.dir), 0o711))
}

func (p *postgres) choosePort() error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.port = free.Addr().(*net.TCPAddr).Port
	return free.Close()
}

func (p *postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *postgres) command(trace, program string, arguments ...string) *exec.Cmd {
	c := launch(trace, filepath.Join(p.programs, program), arguments...)
	c.Dir, c.Env, c.SysProcAttr.Credential = p.dir, []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}, p.as
	return c
}

func (p *postgres) start() error {
	if out, err := p.command("", "initdb", "--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", p.data()).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	p.process = p.command(p.trace, "postgres", "-D", p.data(), "-p", strconv.Itoa(p.port), "-k", p.dir,
		"-c", "fsync=on", "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200")
	p.process.Stdout, p.process.Stderr = log, log
	if err := p.process.Start(); err != nil {
		return err
	}
	return p.serves()
}

func (p *postgres) serves() (err error) {
	for range 500 {
		if err = p.execute("SELECT 1"); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return fmt.Errorf("it doesn't accept connections: %w: %s", err, log)
}

// execute runs psql to execute a statement.
func (p *postgres) execute(statement string) error {
	out, err := p.command("", "psql", "-XAtq", "-h", "127.0.0.1", "-p", strconv.Itoa(p.port), "-U", "postgres", "-c", statement).CombinedOutput()
	if err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

// database creates a database and returns its URL.
func (p *postgres) database(name string) (string, error) {
	err := p.execute("CREATE DATABASE " + name)
	port := p.port
	if p.away != nil {
		port = p.away.port()
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", port, name), err
}

// moveAway adds a latency to the connections of those who get a URL from now on.
func (p *postgres) moveAway(latency time.Duration) (err error) {
	p.away, err = startDistance("127.0.0.1:"+strconv.Itoa(p.port), latency)
	return err
}

// storedBytes returns the size of the databases after a checkpoint. It excludes the write-ahead
// log, whose files are reused.
func (p *postgres) storedBytes() (int64, error) {
	if err := p.execute("CHECKPOINT"); err != nil {
		return 0, err
	}
	return diskUsage(filepath.Join(p.data(), "base"))
}

func (p *postgres) clear() {
	if p.away != nil {
		p.away.clear()
	}
	if p.process != nil && p.process.Process != nil && p.process.ProcessState == nil {
		_ = end(p.process, syscall.SIGQUIT)
	}
	_ = os.RemoveAll(p.dir)
}
