package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// licenceSentences has, for each license under which we may redistribute code, a sentence that occurs
// in this license and in no other.
var licenceSentences = []struct{ id, sentence string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"blessing", "has been dedicated to the public domain by the authors"}, // SQLite
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
}

// bsdSentence is the first sentence of the BSD licenses with two and with three clauses.
const bsdSentence = "redistribution and use in source and binary forms"

// identify returns the ids of the licenses in a text. It returns none if it finds no license
// of licenceSentences, or if the text may also have a license under which we may not redistribute.
func identify(text string) (ids []string) {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, g := range licenceSentences {
		if strings.Contains(plain, g.sentence) && !slices.Contains(ids, g.id) {
			ids = append(ids, g.id)
		}
	}
	if strings.Contains(plain, bsdSentence) && !slices.Contains(ids, "BSD-3-Clause") {
		ids = append(ids, "BSD-2-Clause")
	}
	// The Mozilla license names the GNU licenses as those with which a work may be combined.
	if strings.Contains(plain, "gnu ") && !slices.Contains(ids, "MPL-2.0") {
		return nil
	}
	return ids
}

// module is a dependency and its licenses.
type module struct {
	Path, Version, Dir, Sum string
	Main                    bool
	Licences                []string `json:"-"`
	Text                    string   `json:"-"` // of its license and notice files, one after the other
}

// dependencies lists the modules on which packages depend, with their licenses, sorted by path. If
// tests is set it includes the modules that only tests depend on.
func dependencies(ctx context.Context, root string, t target, tests bool, packages ...string) ([]module, error) {
	args := []string{"list", "-deps", "-json=Module", "-test=" + fmt.Sprint(tests)}
	text, err := output(ctx, root, t.environment(), "go", append(args, packages...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]module{}
	for from := json.NewDecoder(strings.NewReader(text)); ; {
		var p struct{ Module *module }
		if err := from.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main {
			found[p.Module.Path] = *p.Module
		}
	}
	return licensed(found)
}

func licensed(found map[string]module) (modules []module, err error) {
	for _, m := range found {
		if err := m.read(); err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// read reads the license files in the module's top folder. If any of them has an unknown
// license, the module has none. Text also has the notices and the lists of third-party
// licenses, but these don't count as the module's license: a dependency in such a list is a
// module here by itself. The license of a logo doesn't apply to the code.
func (m *module) read() error {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	unknown := false
	for _, f := range files {
		name := strings.ToUpper(f.Name())
		licence := strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING")
		if f.IsDir() || !licence && !strings.HasPrefix(name, "NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return err
		}
		m.Text += strings.TrimSpace(string(text)) + "\n"
		if licence && !strings.Contains(name, "3RD-PARTY") && !strings.Contains(name, "LOGO") {
			ids := identify(string(text))
			unknown = unknown || len(ids) == 0
			m.Licences = append(m.Licences, ids...)
		}
	}
	slices.Sort(m.Licences)
	if m.Licences = slices.Compact(m.Licences); unknown {
		m.Licences = nil
	}
	return nil
}

// checkLicences prints the license of each module that a binary or its tests depend on, and
// fails if one is unknown.
func checkLicences(ctx context.Context, root string) error {
	all, err := dependencies(ctx, root, targets[0], true, "./...")
	for _, t := range targets[1:] {
		if err == nil {
			var more []module
			more, err = dependencies(ctx, root, t, false, "./cmd/countersign")
			all = append(all, more...)
		}
	}
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	all = slices.CompactFunc(all, func(a, b module) bool { return a.Path == b.Path })
	unknown := 0
	for _, m := range all {
		if len(m.Licences) == 0 {
			unknown++
			m.Licences = []string{"UNKNOWN"}
		}
		fmt.Printf("%-28s %s %s\n", strings.Join(m.Licences, ", "), m.Path, m.Version)
	}
	if unknown > 0 {
		return fmt.Errorf("%d dependencies have an unknown license: read it, then add a sentence of it to licences.go or remove the dependency", unknown)
	}
	return nil
}

// notices is the text of all third-party licenses, which require that it is distributed with
// each binary.
func notices(modules []module, goLicence string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "This program includes the following third-party software, each under its own license.\n\n==== Go and its standard library\n%s\n", strings.TrimSpace(goLicence))
	for _, m := range modules {
		fmt.Fprintf(&b, "\n==== %s %s (%s)\n%s\n", m.Path, m.Version, strings.Join(m.Licences, ", "), strings.TrimSpace(m.Text))
	}
	return b.Bytes()
}
