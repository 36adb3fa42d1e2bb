package main

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/platform/secretfile"
)

// Secrets may stand in files: X_FILE names the file in place of X. What a setting's
// file holds is read once, at the start; the credentials of projects are read at
// each use, so that these rotate without a restart.

// fromFiles are the settings that hold a secret.
var fromFiles = []string{"STORE", "BOOTSTRAP_TOKEN", "SMTP_URL"}

// file is what a setting's file holds. The same setting may be asked for twice: what
// is wrong is said once.
func (r *settingReader) file(name, path string) string {
	if v, known := r.files[name]; known {
		return v
	}
	if r.env[prefix+name] != "" {
		r.bad(name, "it and %s%s_FILE are both set; keep one", prefix, name)
	}
	v, err := secretfile.Read(path)
	switch {
	case err != nil:
		r.bad(name+secretfile.Suffix, "%v", err)
	case v == "":
		r.bad(name+secretfile.Suffix, "%s is empty", path)
	}
	r.files[name] = v
	return v
}

// secrets is where the credentials of projects are found; none may be set twice.
func (r *settingReader) secrets(listed []string) *secretfile.Source {
	s := secretfile.New(r.env, listed...)
	for _, name := range sorted(listed) {
		if s.Twice(name) {
			r.twice(name)
		}
	}
	return s
}

func (r *settingReader) twice(name string) {
	r.problems = append(r.problems, name+": it and "+name+secretfile.Suffix+" are both set; keep one")
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}

// isPath reports the name of a variable that names a secret's file.
func (r *settingReader) isPath(c config, name string) bool {
	of, is := strings.CutSuffix(name, secretfile.Suffix)
	setting := strings.TrimPrefix(of, prefix)
	return is && (slices.Contains(fromFiles, setting) || slices.Contains(c.listed(), of) || of == r.text("OIDC_CLIENT_SECRET_ENV", ""))
}
