package main

import (
	"io"
	"runtime/debug"

	"github.com/countersign/countersign/internal/tools/cli"
)

// version is set by the release build.
var version = "0.1.0-dev"

type versionCommand struct{ cli.Output }

// provenance says what a binary was made of.
type provenance struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	At       string `json:"committedAt,omitempty"` // the commit's time; that of the build is not in it, so that it can be repeated
	Modified bool   `json:"modified"`              // made of more than the commit
	Go       string `json:"go"`
	System   string `json:"system"`
}

// Run prints the version and what the binary was made of.
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

// thisBuild reads what Go has put into the binary.
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
