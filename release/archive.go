package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"
)

// entry is a file in an archive.
type entry struct {
	name string
	mode int64
	uid  int
	body []byte
}

// isDir reports whether the entry is an empty folder: its name ends in a slash.
func (e entry) isDir() bool { return e.name[len(e.name)-1] == '/' }

// tarOf makes a tar archive of the entries in the given order, all with the same time and
// without names of owners, so that the same entries give the same bytes.
func tarOf(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Uid: e.uid, Gid: e.uid, Size: int64(len(e.body)), ModTime: at, Format: tar.FormatUSTAR}
		if e.isDir() {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func gzipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func zipOf(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// archive packs the entries in the usual format of a system: zip for Windows, otherwise a
// compressed tar. It also returns the extension of the file name.
func archive(t target, entries []entry, at time.Time) (ending string, text []byte, err error) {
	if t.os == "windows" {
		text, err = zipOf(entries, at)
		return ".zip", text, err
	}
	if text, err = tarOf(entries, at); err == nil {
		text, err = gzipped(text)
	}
	return ".tar.gz", text, err
}
