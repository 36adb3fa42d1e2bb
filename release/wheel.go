package main

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// wheel writes the Python package as a wheel, which pip installs without building anything. Its version is the
// package's own.
func (r *release) wheel() error {
	dir := filepath.Join(r.dir, "sdk", "python")
	project, err := os.ReadFile(filepath.Join(dir, "pyproject.toml"))
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(r.dir, "LICENSE"))
	if err != nil {
		return err
	}
	version, metadata, err := wheelMetadata(string(project), string(readme))
	if err != nil {
		return err
	}
	entries, err := wheelModules(dir)
	if err != nil {
		return err
	}
	info := "countersign-" + version + ".dist-info/"
	entries = append(
		entries,
		entry{name: info + "LICENSE", body: licence},
		entry{name: info + "METADATA", body: []byte(metadata)},
		entry{name: info + "WHEEL", body: []byte("Wheel-Version: 1.0\nGenerator: countersign\nRoot-Is-Purelib: true\nTag: py3-none-any\n")},
	)
	entries = append(entries, entry{name: info + "RECORD", body: wheelRecord(entries, info)})
	text, err := zipOf(entries, r.at)
	if err != nil {
		return err
	}
	return r.write("countersign-"+version+"-py3-none-any.whl", text)
}

// wheelModules are the files of the package below dir: its modules, and the mark that they are typed.
func wheelModules(dir string) (entries []entry, err error) {
	err = filepath.WalkDir(filepath.Join(dir, "countersign"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".py") && d.Name() != "py.typed" {
			return err
		}
		body, err := os.ReadFile(path)
		name, outside := filepath.Rel(dir, path)
		entries = append(entries, entry{name: filepath.ToSlash(name), body: body})
		return errors.Join(err, outside)
	})
	return entries, err
}

// wheelMetadata is the description of the package, from its project file.
func wheelMetadata(project, readme string) (version, text string, err error) {
	value := func(key string) string {
		m := regexp.MustCompile(`(?m)^` + key + ` = (?:\{ text = )?"([^"]+)"`).FindStringSubmatch(project)
		if m == nil {
			err = errors.Join(err, fmt.Errorf("pyproject.toml: there is no %s", key))
			return ""
		}
		return m[1]
	}
	if !strings.Contains(project, "\ndependencies = []\n") {
		err = errors.New("pyproject.toml: the package has dependencies, which the wheel would have to name")
	}
	version = value("version")
	text = fmt.Sprintf(
		"Metadata-Version: 2.1\nName: countersign\nVersion: %s\nSummary: %s\nLicense: %s\nRequires-Python: %s\nProject-URL: Repository, %s\nDescription-Content-Type: text/markdown\n\n%s",
		version, value("description"), value("license"), value("requires-python"), value("Repository"), readme,
	)
	return version, text, err
}

// wheelRecord lists the files of a wheel with their digests and sizes, itself without them.
func wheelRecord(entries []entry, info string) []byte {
	var b strings.Builder
	for _, e := range entries {
		sum := sha256.Sum256(e.body)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.body))
	}
	fmt.Fprintf(&b, "%sRECORD,,\n", info)
	return []byte(b.String())
}
