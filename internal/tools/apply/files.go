package apply

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

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
	var files []named
	for _, path := range paths {
		files = append(files, find(path)...)
	}
	r := reading{first: map[string]string{}}
	r.files(files)
	if len(r.problems) == 0 && len(r.records) == 0 {
		r.wrong("%s: there is no record in it", strings.Join(paths, ", "))
	}
	return r.records, r.problems
}

// named is a file that is to be read, or why it can't be.
type named struct {
	path    string
	mode    fs.FileMode
	problem string
}

// find is a file that is named, whatever its name, or the files below a folder. Links are
// refused, since they lead to what nobody named or reviewed.
func find(path string) []named {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return []named{{problem: err.Error()}}
	case info.IsDir():
		return folder(path)
	case !isOurs(path):
		return []named{{problem: path + ": the name of a file of records ends with .yaml, .yml or .json"}}
	default:
		return []named{{path: path, mode: info.Mode()}}
	}
}

func folder(root string) (files []named) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			files = append(files, named{problem: err.Error()})
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.IsDir():
		case isOurs(path) || d.Type()&fs.ModeSymlink != 0 && filepath.Ext(path) == "":
			files = append(files, named{path: path, mode: d.Type()})
		}
		return nil
	})
	if err != nil {
		files = append(files, named{problem: err.Error()})
	}
	return files
}

func isOurs(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
}

// reading puts together what stands in the files, in their order.
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

// filesAtOnce bounds what is in memory of files that are more than may be.
const filesAtOnce = 64

// files reads files, some at a time, since checking is what takes the time.
func (r *reading) files(all []named) {
	for some := range slices.Chunk(all, filesAtOnce) {
		parts := make([][]part, len(some))
		var g errgroup.Group
		g.SetLimit(runtime.GOMAXPROCS(0))
		for i, f := range some {
			g.Go(func() error {
				parts[i] = f.read()
				return nil
			})
		}
		_ = g.Wait() // what is wrong is a part
		for _, p := range slices.Concat(parts...) {
			r.add(p)
		}
		if r.count > MaxRecords {
			return
		}
	}
}

// part is one record of a file, or what is wrong with it or with all of the file.
type part struct {
	at      string
	record  *Record
	problem string
}

func (r *reading) add(p part) {
	if r.count++; r.count > MaxRecords {
		if r.count == MaxRecords+1 {
			r.wrong("%s: there are more than %d records; apply them in parts", p.at, MaxRecords)
		}
		return
	}
	switch {
	case p.problem != "" && p.at != "":
		r.wrong("%s: %s", p.at, p.problem)
	case p.problem != "":
		r.wrong("%s", p.problem)
	case r.first[p.record.Name()] != "":
		r.wrong("%s: %s stands in %s already", p.at, p.record.Name(), r.first[p.record.Name()])
	default:
		r.first[p.record.Name()] = p.at
		p.record.File = p.at
		r.records = append(r.records, p.record)
	}
}

func (n named) read() []part {
	switch {
	case n.problem != "":
		return []part{{problem: n.problem}}
	case n.mode&fs.ModeSymlink != 0:
		return []part{{at: n.path, problem: "it is a link, and links aren't followed; name what it leads to"}}
	case !n.mode.IsRegular():
		return []part{{at: n.path, problem: "it is no file"}}
	}
	data, err := readFile(n.path)
	docs := []string{string(data)}
	if err == nil && !strings.EqualFold(filepath.Ext(n.path), ".json") {
		docs, err = fromYAML(data)
	}
	if err != nil {
		return []part{{at: n.path, problem: err.Error()}}
	}
	var parts []part
	for _, doc := range docs {
		parts = append(parts, document(n.path, doc)...)
	}
	return parts
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
func document(path, doc string) []part {
	if doc == "null" {
		return nil
	}
	if err := exactjson.Check([]byte(doc)); err != nil {
		return []part{{at: path, problem: err.Error()}}
	}
	list, many := countersign.RawValue(doc).Array()
	if !many {
		list = []countersign.Value{countersign.RawValue(doc)}
	}
	var parts []part
	for i, v := range list[:min(len(list), MaxRecords+1)] {
		at := path
		if many {
			at = fmt.Sprintf("%s: [%d]", path, i)
		}
		record, err := parse(v)
		if err != nil {
			parts = append(parts, part{at: at, problem: err.Error()})
			continue
		}
		parts = append(parts, part{at: at, record: record})
	}
	return parts
}
