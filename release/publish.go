package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// versionPattern matches a version as `countersign version` prints it.
var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// release is a release that is being built.
type release struct {
	commit
	version, out string
	written      []string // names of the files in out
}

// publish builds everything that is published from the last commit, into the directory out.
// key is the file of the private key that signs it, "" for no signature.
func publish(ctx context.Context, root, version, out, key string) (err error) {
	if !versionPattern.MatchString(version) {
		return fmt.Errorf("-version: %q is not a version such as 0.1.0", version)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if held, err := os.ReadDir(out); err != nil || len(held) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty: existing files are not overwritten", out))
	}
	sign, err := signer(key)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "countersign-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	r := release{version: version, out: out}
	if r.commit, err = checkout(ctx, root, work, "source"); err != nil {
		return err
	}
	for _, t := range targets {
		if err := r.make(ctx, t, filepath.Join(work, t.String(), t.program())); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := r.wheel(); err != nil {
		return err
	}
	if err := r.formula(); err != nil {
		return err
	}
	if err := r.provenance(sign); err != nil {
		return err
	}
	return r.sums(sign)
}

// make builds everything for one target: the archive, its bill of materials and, for Linux,
// the packages and an image.
func (r *release) make(ctx context.Context, t target, program string) error {
	if err := compile(ctx, r.commit, t, r.version, program); err != nil {
		return err
	}
	modules, err := dependencies(ctx, r.dir, t, false, "./cmd/countersign")
	if err != nil {
		return err
	}
	licences := map[string][]string{}
	for _, m := range modules {
		if licences[m.Path] = m.Licences; len(m.Licences) == 0 {
			return fmt.Errorf("%s has an unknown license", m.Path)
		}
	}
	name := "countersign_" + r.version + "_" + t.String()
	text, err := bill(program, r.version, r.at, licences)
	if err == nil {
		err = r.write(name+".cdx.json", text)
	}
	if err != nil {
		return err
	}
	body, err := os.ReadFile(program)
	if err == nil {
		err = r.pack(ctx, t, name, body, modules)
	}
	if err != nil || t.os != "linux" {
		return err
	}
	dockerfile, err := os.ReadFile(filepath.Join(r.dir, "deploy", "Dockerfile"))
	if err != nil {
		return err
	}
	loadable, err := image(t, body, string(dockerfile), r.version, r.at)
	if err != nil {
		return err
	}
	return r.write(name+"_image.tar", loadable)
}

// pack writes the archive for one target, with all files in a folder of the archive's name,
// and for Linux the packages.
func (r *release) pack(ctx context.Context, t target, name string, program []byte, modules []module) error {
	goroot, err := output(ctx, r.dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	std, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "LICENSE"))
	if err != nil {
		return err
	}
	thirdParty := notices(modules, string(std))
	if t.os == "linux" {
		if err := r.packages(t, name, program, thirdParty); err != nil {
			return err
		}
	}
	entries := []entry{{name: t.program(), mode: 0o755, body: program}, {name: "THIRD-PARTY-LICENCES.txt", mode: 0o644, body: thirdParty}}
	files := []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}
	if t.os == "linux" {
		files = append(files, "deploy/systemd/countersign.service", "deploy/systemd/countersign.env")
	}
	for _, file := range files {
		body, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: file[strings.LastIndex(file, "/")+1:], mode: 0o644, body: body})
	}
	for i := range entries {
		entries[i].name = name + "/" + entries[i].name
	}
	ending, text, err := archive(t, entries, r.at)
	if err != nil {
		return err
	}
	return r.write(name+ending, text)
}

func (r *release) write(name string, text []byte) error {
	r.written = append(r.written, name)
	return os.WriteFile(filepath.Join(r.out, name), text, 0o644)
}

// digests returns the digests of the written files, by name.
func (r *release) digests() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range r.written {
		sum, err := digest(filepath.Join(r.out, name))
		if err != nil {
			return nil, err
		}
		out[name] = sum
	}
	return out, nil
}

// sums writes the digests in the format of sha256sum -c, and their signature.
func (r *release) sums(sign *signature) error {
	digests, err := r.digests()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		fmt.Fprintf(&b, "%s  %s\n", digests[name], name)
	}
	fmt.Printf("of commit %s with %s:\n%s", r.id, runtime.Version(), b.String())
	if err := os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(b.String()), 0o644); err != nil || sign == nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS.sig"), sign.sign([]byte(b.String())), 0o644)
}
