package test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	encoding "encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The files of golden stores: how they are written and read.

// spare are files that a start creates, so they are not kept.
var spare = map[string]bool{"countersign.reserve": true, "countersign.db-shm": true, "countersign.lock": true}

func keepDirectory(t *testing.T, dir, file string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if spare[e.Name()] {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: e.Name(), Mode: 0o600, Size: int64(len(text))})
		}
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	keep(t, file, b.Bytes())
}

func unpack(t *testing.T, file, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(bytes.NewReader(inflated(t, file))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(r)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// keepDump dumps a database as statements that any connection can execute.
func keepDump(t *testing.T, database, file string) {
	t.Helper()
	text, err := exec.Command("pg_dump", "--inserts", "--no-owner", "--no-privileges", database).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	plain := ""
	for _, line := range lines {
		if !strings.HasPrefix(line, `\`) { // psql's own
			plain += line
		}
	}
	keep(t, file, []byte(plain))
}

func keepJSON(t *testing.T, file string, v any) {
	t.Helper()
	text, err := encoding.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, file, text)
}

func readJSON(t *testing.T, file string) json {
	t.Helper()
	return parsed(t, string(inflated(t, file)))
}

func keep(t *testing.T, file string, text []byte) {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close(), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func inflated(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}
