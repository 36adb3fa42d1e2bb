package main

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/platform/secretfile"
)

// A secret can be in a file: X_FILE names the file and replaces X. The files of settings are read
// once, at the start; those of project credentials at each use, so that these rotate without a
// restart.

// fromFiles are the settings that are secret.
var fromFiles = []string{"STORE", "BOOTSTRAP_TOKEN", "SMTP_URL", "SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"}

// file is the content of a setting's file. It caches the content, so that an error is reported once
// for a setting that is read twice.
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

// secrets is the source of project credentials; it reports one that is set in both ways.
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

// isPath reports whether a variable contains the path of a secret's file.
func (r *settingReader) isPath(c config, name string) bool {
	of, is := strings.CutSuffix(name, secretfile.Suffix)
	setting := strings.TrimPrefix(of, prefix)
	return is && (slices.Contains(fromFiles, setting) || slices.Contains(c.listed(), of) || of == r.text("OIDC_CLIENT_SECRET_ENV", ""))
}
