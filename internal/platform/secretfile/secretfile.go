// Package secretfile reads secrets from the environment or, where the variable
// X_FILE is set in place of X, from the file that it names. A file is read at each
// use, so that a secret rotates without a restart, and what was read is kept by
// nothing.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Suffix makes the name of the variable that holds a path of the one that would
// hold the secret.
const Suffix = "_FILE"

// MaxBytes bounds what is read of a file: no secret is longer.
const MaxBytes = 64 << 10

// Source finds secrets by the name of their variable.
type Source struct {
	env  map[string]string
	kept map[string]bool // names that are secrets themselves, though they may end with Suffix
}

// New is the source of an environment. names are all the variables that secrets are
// asked for by: one of these that ends with _FILE holds a secret and no path.
func New(env map[string]string, names ...string) *Source {
	s := &Source{env: env, kept: map[string]bool{}}
	for _, n := range names {
		s.kept[n] = true
	}
	return s
}

// Path is where the secret is read from, "" when it isn't a file's.
func (s *Source) Path(name string) string {
	if s.kept[name+Suffix] {
		return ""
	}
	return s.env[name+Suffix]
}

// Twice reports a secret that is set both ways: which one counts would be a guess.
func (s *Source) Twice(name string) bool { return s.env[name] != "" && s.Path(name) != "" }

// Get is the secret as it is now, "" when there is none or its file can't be read.
func (s *Source) Get(name string) string {
	v, _ := s.Look(name)
	return v
}

// Look is Get, and says why a file can't be used. The error names the file and
// nothing of what is in it.
func (s *Source) Look(name string) (string, error) {
	path := s.Path(name)
	if path == "" {
		return s.env[name], nil
	}
	return Read(path)
}

// Read gives what a file holds, without the line end that editors and echo leave at
// its end.
func Read(path string) (string, error) {
	// What isn't a plain file could keep the caller waiting for ever.
	if info, err := os.Stat(path); err != nil {
		return "", plain(path, err)
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no plain file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", plain(path, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return "", plain(path, err)
	case len(text) > MaxBytes:
		return "", fmt.Errorf("%s is larger than %d bytes: it holds something else", path, MaxBytes)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

func plain(path string, err error) error {
	if inner := (*os.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s can't be read: %w", path, err)
}
