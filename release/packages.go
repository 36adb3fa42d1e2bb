package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/rpmpack"
)

// Metadata of the Debian and RPM packages.
const (
	maintainer  = "The Countersign authors <security@countersign.example>"
	summary     = "Executes what software agents propose, under control"
	description = "Countersign runs the actions that software agents propose: it asks for approval\nbefore side effects, verifies each answer, and stops where an outcome is uncertain."
	license     = "Apache-2.0"
)

// installed is a file that a package installs.
type installed struct {
	entry
	settings bool // an update keeps the operator's changes to the file
}

// layout returns the files that a package installs, sorted by path. In the systemd unit it
// replaces the path of the program by the one where packages install it.
func layout(dir string, program, notices []byte) ([]installed, error) {
	files := []installed{
		{entry: entry{name: "usr/bin/countersign", mode: 0o755, body: program}},
		{entry: entry{name: docs + "THIRD-PARTY-LICENCES.txt", mode: 0o644, body: notices}},
	}
	for _, f := range []struct {
		from, to string
		mode     int64
	}{
		{"deploy/systemd/countersign.service", "usr/lib/systemd/system/countersign.service", 0o644},
		{"deploy/systemd/countersign.env", "etc/countersign/countersign.env", 0o600},
		{"LICENSE", docs + "copyright", 0o644}, {"README.md", docs + "README.md", 0o644},
		{"CHANGELOG.md", docs + "CHANGELOG.md", 0o644}, {"SECURITY.md", docs + "SECURITY.md", 0o644},
	} {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.from)))
		if err != nil {
			return nil, err
		}
		body = bytes.ReplaceAll(body, []byte("/usr/local/bin/countersign"), []byte("/usr/bin/countersign"))
		files = append(files, installed{entry{name: f.to, mode: f.mode, body: body}, strings.HasPrefix(f.to, "etc/")})
	}
	slices.SortFunc(files, func(a, b installed) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

const docs = "usr/share/doc/countersign/"

// scripts run after a package is installed and before it is removed.
type scripts struct{ postinst, prerm []byte }

func readScripts(dir string) (s scripts, err error) {
	if s.postinst, err = os.ReadFile(filepath.Join(dir, "deploy", "package", "postinst")); err == nil {
		s.prerm, err = os.ReadFile(filepath.Join(dir, "deploy", "package", "prerm"))
	}
	return s, err
}

// debOf makes a Debian package: an ar archive of the format version, the control files and
// the installed files.
func debOf(t target, version string, files []installed, s scripts, at time.Time) ([]byte, error) {
	var data []entry
	var conffiles string
	size := 0
	for _, f := range files {
		for _, folder := range parents(f.name) {
			if !slices.ContainsFunc(data, func(e entry) bool { return e.name == folder }) {
				data = append(data, entry{name: folder, mode: 0o755})
			}
		}
		data = append(data, entry{name: "./" + f.name, mode: f.mode, body: f.body})
		size += len(f.body)
		if f.settings {
			conffiles += "/" + f.name + "\n"
		}
	}
	control := fmt.Sprintf("Package: countersign\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\nRecommends: ca-certificates\nSection: admin\nPriority: optional\nDescription: %s\n %s\n",
		strings.Replace(version, "-", "~", 1), t.arch, maintainer, (size+1023)/1024, summary, strings.ReplaceAll(description, "\n", "\n "))
	members := []entry{{name: "debian-binary", body: []byte("2.0\n")}}
	for _, part := range []struct {
		name    string
		entries []entry
	}{
		{"control.tar.gz", []entry{
			{name: "./control", mode: 0o644, body: []byte(control)}, {name: "./conffiles", mode: 0o644, body: []byte(conffiles)},
			{name: "./postinst", mode: 0o755, body: s.postinst}, {name: "./prerm", mode: 0o755, body: s.prerm},
		}},
		{"data.tar.gz", data},
	} {
		text, err := tarOf(part.entries, at)
		if err == nil {
			text, err = gzipped(text)
		}
		if err != nil {
			return nil, err
		}
		members = append(members, entry{name: part.name, body: text})
	}
	return arOf(members, at), nil
}

// parents returns the folders above a file, the outermost first.
func parents(name string) (out []string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		out = append([]string{"./" + dir + "/"}, out...)
	}
	return out
}

// arOf makes an ar archive, the format of Debian packages.
func arOf(members []entry, at time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.name, at.Unix(), 0, 0, "100644", len(m.body))
		b.Write(m.body)
		if len(m.body)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// rpmArch has the names of architectures in RPM, by those of Go.
var rpmArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// rpmOf makes an RPM package. The tilde makes a pre-release sort before its release.
func rpmOf(t target, version string, files []installed, s scripts, at time.Time) ([]byte, error) {
	shell, err := rpmpack.NewRelation("/bin/sh") // of the scripts, so that it is there before they run
	if err != nil {
		return nil, err
	}
	certificates, err := rpmpack.NewRelation("ca-certificates")
	if err != nil {
		return nil, err
	}
	r, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "countersign", Version: strings.Replace(version, "-", "~", 1), Release: "1", Arch: rpmArch[t.arch], OS: "linux",
		Summary: summary, Description: description, Vendor: "Countersign", Packager: maintainer, Licence: license,
		BuildTime: at, BuildHost: "localhost", Compressor: "gzip",
		Requires: rpmpack.Relations{shell}, Recommends: rpmpack.Relations{certificates},
	})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		kind := rpmpack.GenericFile
		if f.settings {
			kind = rpmpack.ConfigFile | rpmpack.NoReplaceFile
		}
		r.AddFile(rpmpack.RPMFile{Name: "/" + f.name, Body: f.body, Mode: uint(0o100000 | f.mode), Owner: "root", Group: "root", MTime: uint32(at.Unix()), Type: kind})
	}
	r.AddPostin(string(s.postinst))
	r.AddPreun(string(s.prerm))
	var b bytes.Buffer
	err = r.Write(&b)
	return b.Bytes(), err
}

// packages writes the Debian and RPM packages for one target.
func (r *release) packages(t target, name string, program, notices []byte) error {
	files, err := layout(r.dir, program, notices)
	if err != nil {
		return err
	}
	s, err := readScripts(r.dir)
	if err != nil {
		return err
	}
	deb, err := debOf(t, r.version, files, s, r.at)
	if err == nil {
		err = r.write(name+".deb", deb)
	}
	if err != nil {
		return err
	}
	rpm, err := rpmOf(t, r.version, files, s, r.at)
	if err == nil {
		err = r.write(name+".rpm", rpm)
	}
	return err
}
