package mail

import "crypto/x509"

// Trusting makes the client accept a test's certificate.
func (s *Server) Trusting(pool *x509.CertPool) *Server { s.roots = pool; return s }

// Remote makes the client treat the server as one on another machine.
func (s *Server) Remote() *Server { s.loopback = false; return s }
