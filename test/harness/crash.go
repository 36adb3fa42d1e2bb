package harness

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Use makes the next starts run another build of the program.
func (s *Server) Use(binary string) { s.binary = binary }

// Command sets the arguments of the next starts, instead of `serve`.
func (s *Server) Command(args ...string) { s.args = args }

// MayLogErrors says whether the next starts have faults that the log must report, and that may
// end in an internal error.
func (s *Server) MayLogErrors(may bool) { s.faulty = may }

// Begin starts a stopped server that may die by itself. It returns true when the server listens, or
// false if it ended before.
func (s *Server) Begin(settings ...Setting) (up bool) {
	s.t.Helper()
	s.change(settings)
	s.spawn()
	up = s.comesUp()
	if up && s.document == nil {
		s.readDocument()
	}
	return up
}

// Killed waits until a server has died by itself, and reports whether a signal such as SIGKILL ended
// it.
func (s *Server) Killed() bool {
	s.t.Helper()
	return s.processes.wait(s.t) == -1 // -1 is a signal; a panic or an exit has a status
}

// PID is the id of the server's process, the first one if it has several.
func (s *Server) PID() int { return s.processes[0].cmd.Process.Pid }

// Alive reports whether the process is running.
func (s *Server) Alive() bool { return s.processes != nil && !s.processes.ended() }

// Anew returns another server with the same settings and a new store, not started.
func (s *Server) Anew(t testing.TB) *Server {
	t.Helper()
	s.own("Anew")
	c := Prepare(t)
	store := c.settings["SVC_PLATFORM_STORE"]
	c.settings = maps.Clone(s.settings)
	c.settings["SVC_PLATFORM_STORE"] = store
	c.binary, c.document = s.binary, s.document
	for secret := range s.kept {
		c.keep(secret, "")
	}
	c.Admin = s.Admin.On(c)
	return c
}

// Copy returns another server on a copy of a stopped server's store, not started.
func (s *Server) Copy(t testing.TB) *Server {
	t.Helper()
	if s.Shared() {
		database := CloneDatabase(t, s.settings["SVC_PLATFORM_STORE"]) // it outlives the server
		c := s.Anew(t)
		c.Move(database)
		return c
	}
	c := s.Anew(t)
	if err := os.CopyFS(c.Store, os.DirFS(s.Store)); err != nil {
		t.Fatal(err)
	}
	return c
}

// Move sets another database for a server that is not started.
func (s *Server) Move(database string) { s.settings["SVC_PLATFORM_STORE"] = database }

// On returns the same principal as a client of another server.
func (c *Client) On(s *Server) *Client {
	other := *c
	other.server = s
	return &other
}

// Beside is the path of a file next to the store, for a test's own files.
func (s *Server) Beside(name string) string { return filepath.Join(filepath.Dir(s.Store), name) }
