// Package secretfile reads secrets from the environment or, if the variable X_FILE is set
// instead of X, from the file that X_FILE names. A file is read at each use and its content
// is not kept, so that a secret can be rotated without a restart.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Suffix is appended to the name of a secret's variable for the name of the variable with
// the path of its file.
const Suffix = "_FILE"

// MaxBytes bounds the size of a secret's file.
const MaxBytes = 64 << 10

// Source finds secrets by the name of their variable.
type Source struct {
	env  map[string]string
	kept map[string]bool // names of secrets; one of them that ends with Suffix holds no path
}

// New makes a source from an environment. names are all variables that may hold secrets:
// one of them that ends with _FILE holds a secret and not a path.
func New(env map[string]string, names ...string) *Source {
	s := &Source{env: env, kept: map[string]bool{}}
	for _, n := range names {
		s.kept[n] = true
	}
	return s
}

// Path is the path of the secret's file, "" if the secret is not in a file.
func (s *Source) Path(name string) string {
	if s.kept[name+Suffix] {
		return ""
	}
	return s.env[name+Suffix]
}

// Twice reports whether a secret is set in both ways, which is ambiguous.
func (s *Source) Twice(name string) bool { return s.env[name] != "" && s.Path(name) != "" }

// Get returns the present secret, "" if there is none or its file can't be read.
func (s *Source) Get(name string) string {
	v, _ := s.Look(name)
	return v
}

// Look is Get with the reason why a file can't be read. The error names the file and
// contains nothing of its content.
func (s *Source) Look(name string) (string, error) {
	path := s.Path(name)
	if path == "" {
		return s.env[name], nil
	}
	return Read(path)
}

// Read returns the content of a file without the final line end that editors and echo
// write.
func Read(path string) (string, error) {
	// Opening or reading a pipe or a device could block for ever.
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
