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

// grants are sentences that each licence which we may pass on has, and no other.
var grants = []struct{ id, sentence string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"blessing", "has been dedicated to the public domain by the authors"}, // SQLite's
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
}

// bsd is what licences of two and of three clauses begin with.
const bsd = "redistribution and use in source and binary forms"

// identify names the licences in a text, none when one of them isn't known to be
// one that we may pass on.
func identify(text string) (ids []string) {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, g := range grants {
		if strings.Contains(plain, g.sentence) && !slices.Contains(ids, g.id) {
			ids = append(ids, g.id)
		}
	}
	if strings.Contains(plain, bsd) && !slices.Contains(ids, "BSD-3-Clause") {
		ids = append(ids, "BSD-2-Clause")
	}
	// The Mozilla licence names the GNU ones as what a work may be combined with.
	if strings.Contains(plain, "gnu ") && !slices.Contains(ids, "MPL-2.0") {
		return nil
	}
	return ids
}

// module is a dependency with the licence that its files are under.
type module struct {
	Path, Version, Dir, Sum string
	Main                    bool
	Licences                []string `json:"-"`
	Text                    string   `json:"-"` // of its licence files, one after the other
}

// used lists the modules that packages come from, the test's too where tests is set,
// with the licence of each, by path.
func used(ctx context.Context, root string, t target, tests bool, packages ...string) ([]module, error) {
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

// read finds the licence in the module's top folder: one that isn't known in any of
// its files makes the module's unknown. A notice and a list of what else a module
// took up go with it; what is listed is a module of its own here. A logo is not code.
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

// checkLicences prints the licence of everything that is in a binary or tests it,
// and fails where one is not known.
func checkLicences(ctx context.Context, root string) error {
	all, err := used(ctx, root, targets[0], true, "./...")
	for _, t := range targets[1:] {
		if err == nil {
			var more []module
			more, err = used(ctx, root, t, false, "./cmd/countersign")
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
			m.Licences = []string{"NOT KNOWN"}
		}
		fmt.Printf("%-28s %s %s\n", strings.Join(m.Licences, ", "), m.Path, m.Version)
	}
	if unknown > 0 {
		return fmt.Errorf("%d dependencies are under a licence that is not known here: read it, then add its sentence to licences.go or do without", unknown)
	}
	return nil
}

// notices is the text that goes with each binary, for the licences ask for it.
func notices(modules []module, goLicence string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "The program holds these works of others, each under its licence.\n\n==== Go and its standard library\n%s\n", strings.TrimSpace(goLicence))
	for _, m := range modules {
		fmt.Fprintf(&b, "\n==== %s %s (%s)\n%s\n", m.Path, m.Version, strings.Join(m.Licences, ", "), strings.TrimSpace(m.Text))
	}
	return b.Bytes()
}
