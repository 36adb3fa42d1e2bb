package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/testing/testport"
)

// Server is a PostgreSQL server that the test may stop, restart and kill. It syncs its files, so that
// acknowledged commits survive Kill.
type Server struct {
	programs string // the directory of initdb and postgres
	dir      string // data, socket, log
	port     int
	release  func()              // gives the port up
	as       *syscall.Credential // nil: the user of this process
	careless bool                // without fsync
	process  *os.Process
	ended    chan struct{} // closed when the process has ended
}

// Start starts a server that is stopped at the end of the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := prepare("", (*Server).copied)
	if err != nil {
		absent(t, err)
	}
	t.Cleanup(s.remove)
	s.Start(t)
	return s
}

// Database makes a database on the server and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	_, address := database(t, s.url())
	return address
}

// Start starts a stopped server, and waits until it accepts connections.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// Stop stops the server as an administrator does: it ends the sessions and keeps what is committed.
func (s *Server) Stop(t testing.TB) { s.signal(t, syscall.SIGINT) }

// Kill stops the server at once, without notifying its clients. The next Start recovers from the
// write-ahead log.
func (s *Server) Kill(t testing.TB) { s.signal(t, syscall.SIGQUIT) }

func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Signal(signal); err != nil {
		t.Fatalf("end PostgreSQL: %v", err)
	}
	<-s.ended
}

// url is the address of the administrator's database.
func (s *Server) url() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// missing is the beginning of the error if PostgreSQL isn't installed.
const missing = "PostgreSQL is not installed"

// programs finds the directory of PostgreSQL's programs in the path, or the newest installed one.
func programs() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		// It may be a link in a directory without the other programs.
		if found, err = filepath.EvalSymlinks(found); err == nil {
			return filepath.Dir(found), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, errors.New(missing+" (Debian's package is postgresql) and TEST_POSTGRES_URL is not set"))
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// prepare makes the files of a server, below folder or the default for "", without starting it. If
// several servers are made, they are copies.
func prepare(folder string, fill func(*Server) error) (s *Server, err error) {
	s = &Server{}
	if s.programs, err = programs(); err != nil {
		return nil, err
	}
	if s.dir, err = makeDirectory(folder); err != nil {
		return nil, err
	}
	if err = s.initialise(fill); err != nil {
		s.remove()
		return nil, fmt.Errorf("make a PostgreSQL server: %w", err)
	}
	return s, nil
}

func (s *Server) initialise(fill func(*Server) error) (err error) {
	if err := s.become(); err != nil {
		return err
	}
	if err := fill(s); err != nil {
		return err
	}
	s.port, s.release, err = testport.Claim()
	return err
}

// afresh makes the data directory by initdb.
func (s *Server) afresh() error { return s.initdb(s.data()) }

// copied makes the data directory as a copy of pristine, if there is one.
func (s *Server) copied() error {
	pristine.Lock()
	defer pristine.Unlock()
	if pristine.dir == "" {
		return s.afresh()
	}
	kept := filepath.Join(pristine.dir, "data")
	if _, err := os.Stat(kept); err != nil {
		if err := s.own(pristine.dir); err != nil {
			return err
		}
		if err := s.initdb(kept); err != nil {
			return err
		}
	}
	return s.run(s.program("cp", "-R", "-p", kept, s.data()))
}

func (s *Server) initdb(dir string) error {
	return s.run(s.command("initdb", "--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", dir))
}

func (s *Server) run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}

// become chooses the user of the server, since PostgreSQL refuses root.
func (s *Server) become() error {
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
	return s.own(s.dir)
}

// own gives a directory to the user of the server.
func (s *Server) own(dir string) error {
	if s.as == nil {
		return nil
	}
	return os.Chown(dir, int(s.as.Uid), int(s.as.Gid))
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(program string, arguments ...string) *exec.Cmd {
	return s.program(filepath.Join(s.programs, program), arguments...)
}

// program runs a program as the user of the server.
func (s *Server) program(path string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(path, arguments...)
	cmd.Dir = s.dir
	cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	endWithUs(cmd.SysProcAttr)
	return cmd
}

// start starts the server and waits until it accepts connections.
func (s *Server) start() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := s.command("postgres", "-D", s.data(), "-p", strconv.Itoa(s.port), "-k", s.dir,
		"-c", "fsync="+map[bool]string{false: "on", true: "off"}[s.careless],
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=1000", "-c", "shared_buffers=64MB")
	cmd.Stdout, cmd.Stderr = log, log
	if err := s.launch(cmd); err != nil {
		return err
	}
	return s.serves()
}

// launch starts the process from a thread that lives as long as the process: the kernel would kill
// the process with the thread.
func (s *Server) launch(cmd *exec.Cmd) error {
	s.ended = make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(s.ended)
		err := cmd.Start()
		s.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // its log has the reason
		}
	}()
	return <-started
}

// hangs bounds every wait for the server, so that a test doesn't hang.
const hangs = 5 * time.Minute

func (s *Server) serves() error {
	deadline := time.After(hangs)
	for {
		err := execute(s.url(), "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.ended:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("PostgreSQL ended: %s", log)
		case <-deadline:
			return fmt.Errorf("PostgreSQL hasn't served in %s: %w", hangs, err)
		}
	}
}

// remove stops the server and removes its files.
func (s *Server) remove() {
	if s.process != nil {
		_ = s.process.Signal(syscall.SIGQUIT)
		<-s.ended
	}
	if s.release != nil {
		s.release()
	}
	removeDirectory(s.dir)
}
