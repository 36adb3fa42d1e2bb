package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// certificate is the one of the listener, read again when its files change, so that
// it is renewed without a restart. Files that can't be used leave the one in use:
// the two are seldom written at one moment.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
	seen [2]os.FileInfo // the files as they were when they were read last, usable or not
}

func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	now, err := c.look()
	if err == nil {
		err = c.read(now)
	}
	if err != nil {
		return nil, fmt.Errorf("can't use the TLS certificate: %w", err)
	}
	return c, nil
}

// get gives each handshake the present certificate; two looks at a directory cost
// little beside the handshake.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.look()
	switch {
	case err != nil: // between the removal of a file and its successor
	case sameFile(now[0], c.seen[0]) && sameFile(now[1], c.seen[1]):
	default:
		if err := c.read(now); err != nil {
			c.log.Warn("the TLS certificate changed and can't be used; the one before stays in use", "error", err.Error())
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

// read remembers the look that came before it: what is written meanwhile shows at
// the next one.
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
