package main

import (
	"bytes"
	"text/template"
)

// downloads is the start of the URL at which a release is published; the version follows.
const downloads = "https://github.com/countersign/countersign/releases/download/v"

// formulaText is the template of the Homebrew formula for macOS and Linux.
var formulaText = template.Must(template.New("").Parse(`class Countersign < Formula
  desc "{{.Summary}}"
  homepage "https://github.com/countersign/countersign"
  version "{{.Version}}"
  license "{{.License}}"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Files}}
    on_{{.Processor}} do
      url "{{.URL}}"
      sha256 "{{.Digest}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "countersign"
    generate_completions_from_executable(bin/"countersign", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/countersign version")
  end
end
`))

type formulaSystem struct {
	Name  string
	Files []formulaFile
}

type formulaFile struct{ Processor, URL, Digest string }

// formula writes the Homebrew formula with the digests of the archives.
func (r *release) formula() error {
	digests, err := r.digests()
	if err != nil {
		return err
	}
	var systems []formulaSystem
	for _, system := range []struct{ name, os string }{{"macos", "darwin"}, {"linux", "linux"}} {
		s := formulaSystem{Name: system.name}
		for _, processor := range []struct{ name, arch string }{{"arm", "arm64"}, {"intel", "amd64"}} {
			file := "countersign_" + r.version + "_" + target{system.os, processor.arch}.String() + ".tar.gz"
			s.Files = append(s.Files, formulaFile{processor.name, downloads + r.version + "/" + file, digests[file]})
		}
		systems = append(systems, s)
	}
	var b bytes.Buffer
	err = formulaText.Execute(&b, map[string]any{"Summary": summary, "Version": r.version, "License": license, "Systems": systems})
	if err != nil {
		return err
	}
	return r.write("countersign.rb", b.Bytes())
}
