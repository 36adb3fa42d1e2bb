package mail

import "crypto/x509"

// Trusting lets a test's certificate count.
func (s *Server) Trusting(pool *x509.CertPool) *Server { s.roots = pool; return s }

// Remote makes the server count as another machine's, whatever its address says.
func (s *Server) Remote() *Server { s.loopback = false; return s }
