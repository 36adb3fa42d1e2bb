package main

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"

	"github.com/countersign/countersign/internal/tools/cli"
)

// certificate is the listener's certificate. It reads the files again when they change, so that
// the certificate can be renewed without a restart. If the files can't be used, it keeps the
// previous certificate: key and certificate are seldom written at the same moment.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
	seen [2]os.FileInfo // the state of the files at the last read, usable or not
}

func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	now, err := c.look()
	if err == nil {
		err = c.read(now)
	}
	if err != nil {
		return nil, cli.Unusablef("%sTLS_CERT_FILE: %v; it and %sTLS_KEY_FILE name a certificate and its key as PEM files", prefix, err, prefix)
	}
	return c, nil
}

// get returns the current certificate for a handshake. It looks for changed files each time,
// which costs little compared with the handshake.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.look()
	switch {
	case err != nil: // a file was removed and is not yet replaced
	case sameFile(now[0], c.seen[0]) && sameFile(now[1], c.seen[1]):
	default:
		if err := c.read(now); err != nil {
			c.log.Warn("the TLS certificate changed and can't be used; the previous one stays in use", "error", err.Error())
		} else {
			c.log.Info("the TLS certificate was renewed")
		}
	}
	return c.pair, nil
}

func (c *certificate) look() (now [2]os.FileInfo, err error) {
	for i, path := range []string{c.certFile, c.keyFile} {
		if now[i], err = os.Stat(path); err != nil {
			return now, err
		}
	}
	return now, nil
}

// read stores the file state from before the read, so that a change during the read is seen at the
// next handshake.
func (c *certificate) read(now [2]os.FileInfo) error {
	c.seen = now
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.pair = &pair
	}
	return err
}

func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
