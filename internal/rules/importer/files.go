package importer

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// A document may refer to files below its own folder, and to nothing else: what is elsewhere,
// on this machine or on another one, is none of a document's business.

// file is one text of a document.
type file struct {
	name string // from the document's folder
	root any
}

// maxFiles bounds the files of one document.
const maxFiles = 10_000

// files are those that a document refers to.
type files struct {
	open   func(name string) ([]byte, error) // nil: there are none
	loaded map[string]loadedFile
	left   int // bytes
}

type loadedFile struct {
	*file
	err error
}

// Below lets the document refer to files of its folder, in which it is called name. open reads
// one of at most most bytes, by its path from there, and must not leave the folder, also not
// by links. Its error is shown.
func (d *Document) Below(name string, open func(name string, most int) ([]byte, error)) {
	d.main.name = name
	d.files.open = func(name string) ([]byte, error) { return open(name, d.files.left) }
	d.files.loaded = map[string]loadedFile{name: {file: d.main}}
}

// referred is the file that a reference of another one names.
func (d *Document) referred(from *file, ref string) (*file, *refusal) {
	u, err := url.Parse(ref)
	switch {
	case err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || u.RawQuery != "" || strings.Contains(u.Path, `\`) || path.IsAbs(u.Path):
		return nil, refuse(ExternalReference, "it needs %s, and no other document is fetched; bundle the document first", quoted(ref))
	case d.files.open == nil:
		return nil, refuse(ExternalReference, "it needs %s; import the document as a file, with that file below its folder, or bundle it first", quoted(ref))
	}
	name := path.Join(path.Dir(from.name), u.Path)
	if name == ".." || strings.HasPrefix(name, "../") {
		return nil, refuse(ExternalReference, "it needs %s, which is outside the document's folder; bundle the document first", quoted(ref))
	}
	known, is := d.files.loaded[name]
	if !is {
		known.file, known.err = d.load(name)
		d.files.loaded[name] = known
	}
	if known.err != nil {
		return nil, refuse(ReferenceUnresolved, "%s can't be read: %s", quoted(name), short(known.err.Error(), 200))
	}
	return known.file, nil
}

func (d *Document) load(name string) (*file, error) {
	if len(d.files.loaded) >= maxFiles || d.files.left <= 0 {
		return nil, errors.New("the document has too many files, or too large ones; bundle it first")
	}
	data, err := d.files.open(name)
	if err != nil {
		return nil, err
	}
	if d.files.left -= len(data); d.files.left < 0 {
		return nil, errors.New("the document's files are too large together; bundle it first")
	}
	root, err := tree(data, &d.values)
	return &file{name: name, root: root}, err
}
