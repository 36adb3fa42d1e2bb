package main

import (
	"io"
	"runtime/debug"

	"github.com/countersign/countersign/internal/tools/cli"
)

// version is set by the release build.
var version = "0.1.0-dev"

type versionCommand struct{ cli.Output }

// provenance describes the build of a binary.
type provenance struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	At       string `json:"committedAt,omitempty"` // the commit's time; a build time would make builds differ
	Modified bool   `json:"modified"`              // the tree had uncommitted changes
	Go       string `json:"go"`
	System   string `json:"system"`
}

// Run prints the version and the provenance.
func (c *versionCommand) Run(t *cli.Terminal) error {
	b := thisBuild()
	return c.Print(t, b, func(w io.Writer) {
		commit := b.Commit
		if b.Modified {
			commit += ", modified"
		}
		cli.Facts(w, [2]string{"version", b.Version}, [2]string{"commit", orElse(commit, "not known")}, [2]string{"committed at", orElse(b.At, "not known")},
			[2]string{"go", b.Go}, [2]string{"system", b.System})
	})
}

// thisBuild reads the build information in the binary.
func thisBuild() provenance {
	b := provenance{Version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	b.Commit, b.At, b.Modified = set["vcs.revision"], set["vcs.time"], set["vcs.modified"] == "true"
	b.System = set["GOOS"] + "/" + set["GOARCH"]
	return b
}
