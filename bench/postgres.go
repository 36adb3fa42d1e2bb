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
func (s *postgres) become() error {
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
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(os.Chown(s.dir, int(uid), int(gid)), os.Chmod(filepath.Dir(s.dir), 0o711))
}

func (s *postgres) choosePort() error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = free.Addr().(*net.TCPAddr).Port
	return free.Close()
}

func (s *postgres) data() string { return filepath.Join(s.dir, "data") }

func (s *postgres) command(trace, program string, arguments ...string) *exec.Cmd {
	c := launch(trace, filepath.Join(s.programs, program), arguments...)
	c.Dir, c.Env, c.SysProcAttr.Credential = s.dir, []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}, s.as
	return c
}

func (s *postgres) start() error {
	if out, err := s.command("", "initdb", "--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", s.data()).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process = s.command(s.trace, "postgres", "-D", s.data(), "-p", strconv.Itoa(s.port), "-k", s.dir,
		"-c", "fsync=on", "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200")
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	return s.serves()
}

func (s *postgres) serves() (err error) {
	for range 500 {
		if err = s.execute("SELECT 1"); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return fmt.Errorf("it doesn't accept connections: %w: %s", err, log)
}

// execute runs psql to execute a statement.
func (s *postgres) execute(statement string) error {
	out, err := s.command("", "psql", "-XAtq", "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-U", "postgres", "-c", statement).CombinedOutput()
	if err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

// database creates a database and returns its URL.
func (s *postgres) database(name string) (string, error) {
	err := s.execute("CREATE DATABASE " + name)
	port := s.port
	if s.away != nil {
		port = s.away.port()
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", port, name), err
}

// moveAway adds a latency to the connections of those who get a URL from now on.
func (s *postgres) moveAway(latency time.Duration) (err error) {
	s.away, err = startDistance("127.0.0.1:"+strconv.Itoa(s.port), latency)
	return err
}

// storedBytes returns the size of the databases after a checkpoint. It excludes the write-ahead
// log, whose files are reused.
func (s *postgres) storedBytes() (int64, error) {
	if err := s.execute("CHECKPOINT"); err != nil {
		return 0, err
	}
	return diskUsage(filepath.Join(s.data(), "base"))
}

func (s *postgres) clear() {
	if s.away != nil {
		s.away.clear()
	}
	if s.process != nil && s.process.Process != nil && s.process.ProcessState == nil {
		_ = end(s.process, syscall.SIGQUIT)
	}
	_ = os.RemoveAll(s.dir)
}
