package apply

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// Bounds of what is read.
const (
	MaxFileBytes = 1 << 20
	MaxRecords   = 10_000
)

// Read reads the records of files and folders, in the order of their names. It returns none
// but all of them, or everything that is wrong with them.
func Read(paths []string) (records []*Record, problems []string) {
	r := reading{first: map[string]string{}}
	for _, path := range paths {
		r.path(path)
	}
	if len(r.problems) == 0 && len(r.records) == 0 {
		r.wrong("%s: there is no record in it", strings.Join(paths, ", "))
	}
	return r.records, r.problems
}

type reading struct {
	records  []*Record
	problems []string
	count    int
	first    map[string]string // where a record stands, by kind and id
}

func (r *reading) wrong(format string, args ...any) {
	if len(r.problems) < countersign.MaxProblems {
		r.problems = append(r.problems, fmt.Sprintf(format, args...))
	}
}

// path reads a file that is named, whatever its name, or the files below a folder. Links are
// refused, since they lead to what nobody named or reviewed.
func (r *reading) path(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		r.wrong("%v", err)
	case info.IsDir():
		r.folder(path)
	case !isOurs(path):
		r.wrong("%s: the name of a file of records ends with .yaml, .yml or .json", path)
	default:
		r.file(path, info.Mode())
	}
}

func (r *reading) folder(root string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			r.wrong("%v", err)
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.IsDir():
		case isOurs(path) || d.Type()&fs.ModeSymlink != 0 && filepath.Ext(path) == "":
			r.file(path, d.Type())
		}
		if r.count > MaxRecords {
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil {
		r.wrong("%v", err)
	}
}

func isOurs(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
}

func (r *reading) file(path string, mode fs.FileMode) {
	switch {
	case mode&fs.ModeSymlink != 0:
		r.wrong("%s: it is a link, and links aren't followed; name what it leads to", path)
		return
	case !mode.IsRegular():
		r.wrong("%s: it is no file", path)
		return
	}
	data, err := readFile(path)
	if err != nil {
		r.wrong("%s: %v", path, err)
		return
	}
	docs := []string{string(data)}
	if !strings.EqualFold(filepath.Ext(path), ".json") {
		if docs, err = fromYAML(data); err != nil {
			r.wrong("%s: %v", path, err)
			return
		}
	}
	for _, doc := range docs {
		r.document(path, doc)
	}
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("it is larger than %d bytes; put its records into several files", MaxFileBytes)
	}
	return data, err
}

// document reads a record, or an array of them. A YAML document without anything is none.
func (r *reading) document(path, doc string) {
	if doc == "null" {
		return
	}
	if err := exactjson.Check([]byte(doc)); err != nil {
		r.wrong("%s: %v", path, err)
		return
	}
	list, many := countersign.RawValue(doc).Array()
	if !many {
		list = []countersign.Value{countersign.RawValue(doc)}
	}
	for i, v := range list {
		at := path
		if many {
			at = fmt.Sprintf("%s: [%d]", path, i)
		}
		r.record(at, v)
	}
}

func (r *reading) record(at string, v countersign.Value) {
	if r.count++; r.count > MaxRecords {
		if r.count == MaxRecords+1 {
			r.wrong("%s: there are more than %d records; apply them in parts", at, MaxRecords)
		}
		return
	}
	record, err := parse(v)
	if err != nil {
		r.wrong("%s: %v", at, err)
		return
	}
	if before, double := r.first[record.Name()]; double {
		r.wrong("%s: %s stands in %s already", at, record.Name(), before)
		return
	}
	r.first[record.Name()] = at
	record.File = at
	r.records = append(r.records, record)
}
