package harness

// PID is the number of the server's process.
func (s *Server) PID() int { return s.process.cmd.Process.Pid }

// MayLogErrors says that the next starts meet faults that a log must tell of.
func (s *Server) MayLogErrors(may bool) { s.faulty = may }
