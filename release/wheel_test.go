package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheWheelRecordsEveryFileOfThePackage: pip refuses a wheel with a file that its record lacks or has otherwise.
func TestTheWheelRecordsEveryFileOfThePackage(t *testing.T) {
	r := release{commit: commit{dir: "..", at: at}, out: t.TempDir()}
	if err := r.wheel(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.out, r.written[0]))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files, recorded := map[string][]byte{}, map[string]bool{}
	for _, f := range archive.File {
		opened, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(opened); err != nil {
			t.Fatal(err)
		}
	}
	info := strings.TrimSuffix(r.written[0], "-py3-none-any.whl") + ".dist-info/"
	for line := range strings.Lines(string(files[info+"RECORD"])) {
		recorded[strings.TrimSuffix(line, "\n")] = true
	}
	for name, body := range files {
		sum := sha256.Sum256(body)
		line := fmt.Sprintf("%s,sha256=%s,%d", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(body))
		if name == info+"RECORD" {
			line = name + ",,"
		}
		if !recorded[line] {
			t.Errorf("the record lacks %s", line)
		}
	}
	for _, name := range []string{"countersign/__init__.py", "countersign/py.typed", "countersign/receiver/__init__.py", info + "LICENSE", info + "WHEEL"} {
		if len(recorded) != len(files) || files[name] == nil {
			t.Errorf("%d files, %d recorded; %s: %t", len(files), len(recorded), name, files[name] != nil)
		}
	}
	if !strings.Contains(string(files[info+"METADATA"]), "\nRequires-Python: >=3.10\n") {
		t.Errorf("its description is\n%.400s", files[info+"METADATA"])
	}
}

func TestAWheelWhoseDependenciesItCouldNotNameIsRefused(t *testing.T) {
	project, err := os.ReadFile("../sdk/python/pyproject.toml")
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(project), "dependencies = []", `dependencies = ["requests"]`, 1)
	if _, _, err := wheelMetadata(with, ""); err == nil {
		t.Error("a package with dependencies becomes a wheel without them")
	}
	if _, _, err := wheelMetadata(strings.Replace(string(project), "version = ", "v = ", 1), ""); err == nil {
		t.Error("a package without a version becomes a wheel")
	}
}
