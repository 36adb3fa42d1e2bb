package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func contents(t *testing.T) ([]installed, scripts) {
	t.Helper()
	files, err := layout("..", []byte("program"), []byte("notices"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := readScripts("..")
	if err != nil {
		t.Fatal(err)
	}
	return files, s
}

// members reads the members of an ar archive, by name.
func members(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	rest, is := bytes.CutPrefix(text, []byte("!<arch>\n"))
	if !is {
		t.Fatal("it is no ar archive")
	}
	for len(rest) > 0 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || string(rest[58:60]) != "`\n" {
			t.Fatalf("a header is %q", rest[:60])
		}
		out[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	return out
}

func TestADebianPackageHoldsTheProgramItsUnitAndItsSettings(t *testing.T) {
	files, s := contents(t)
	text, err := debOf(target{"linux", "arm64"}, "0.2.0-rc.1", files, s, at)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := debOf(target{"linux", "arm64"}, "0.2.0-rc.1", files, s, at); err != nil || !bytes.Equal(text, again) {
		t.Errorf("two packages of the same files differ, %v", err)
	}
	found := members(t, text)
	control, data := untar(t, found["control.tar.gz"]), untar(t, found["data.tar.gz"])
	if c := string(control["./control"].body); !strings.Contains(c, "\nVersion: 0.2.0~rc.1\n") || !strings.Contains(c, "\nArchitecture: arm64\n") || !strings.Contains(c, "\nRecommends: ca-certificates\n") {
		t.Errorf("control is\n%s", c)
	}
	if c := string(control["./conffiles"].body); c != "/etc/countersign/countersign.env\n" {
		t.Errorf("conffiles is %q", c)
	}
	if e := data["./etc/countersign/countersign.env"]; e.mode != 0o600 {
		t.Errorf("the settings have the mode %o", e.mode)
	}
	if e := data["./usr/bin/countersign"]; e.mode != 0o755 || string(e.body) != "program" {
		t.Errorf("the program is %+v", e)
	}
	if unit := string(data["./usr/lib/systemd/system/countersign.service"].body); !strings.Contains(unit, "\nExecStart=/usr/bin/countersign serve\n") || !strings.Contains(unit, "\nInaccessiblePaths=/dev/shm\n") {
		t.Errorf("the unit is\n%s", unit)
	}
	if !data["./usr/lib/systemd/system/"].isDir() {
		t.Error("the package lacks the folder of the unit")
	}
}

func untar(t *testing.T, text []byte) map[string]entry {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]entry{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		body, unread := io.ReadAll(r)
		if err != nil || unread != nil {
			t.Fatal(err, unread)
		}
		out[h.Name] = entry{name: h.Name, mode: h.Mode, body: body}
	}
}

func TestAnRPMPackageOfTheSameFilesIsTheSame(t *testing.T) {
	files, s := contents(t)
	one, err := rpmOf(target{"linux", "amd64"}, "0.2.0", files, s, at)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := rpmOf(target{"linux", "amd64"}, "0.2.0", files, s, at); err != nil || !bytes.Equal(one, two) {
		t.Errorf("two packages differ, %v", err)
	}
	if !bytes.HasPrefix(one, []byte{0xed, 0xab, 0xee, 0xdb}) || !bytes.Contains(one, []byte("x86_64")) {
		t.Error("it is no package of RPM for this architecture")
	}
	if !bytes.Contains(one, []byte("/bin/sh\x00")) || !bytes.Contains(one, []byte("ca-certificates\x00")) {
		t.Error("it doesn't name what it needs")
	}
	if !slices.ContainsFunc(files, func(f installed) bool { return f.settings }) {
		t.Error("no file is kept as the operator left it")
	}
}

// TestWhatIsPublishedIsSigned: both the digests and the provenance statement are signed.
func TestWhatIsPublishedIsSigned(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	sign, err := signer(file)
	if err != nil {
		t.Fatal(err)
	}
	r := release{commit: commit{id: "c0ffee", at: at}, version: "0.2.0", out: t.TempDir()}
	for _, err := range []error{r.write("countersign_0.2.0_linux_amd64.tar.gz", []byte("archive")), r.formula(), r.provenance(sign), r.sums(sign)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	sums := read("SHA256SUMS")
	if !ed25519.Verify(public, sums, read("SHA256SUMS.sig")) {
		t.Error("the signature of the digests doesn't verify")
	}
	digest, err := digest(filepath.Join(r.out, "countersign_0.2.0_linux_amd64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(read("countersign.rb")), digest) {
		t.Errorf("the formula doesn't name the archive's digest %s", digest)
	}
	var e struct {
		Payload    []byte
		Signatures []struct{ Sig []byte }
	}
	if err := json.Unmarshal(read("countersign_0.2.0.intoto.jsonl"), &e); err != nil || len(e.Signatures) != 1 {
		t.Fatal(err, e)
	}
	if !ed25519.Verify(public, preAuthentication(e.Payload), e.Signatures[0].Sig) {
		t.Error("the signature of the statement doesn't verify")
	}
	var s statement
	if err := json.Unmarshal(e.Payload, &s); err != nil || len(s.Subject) != 2 || s.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"] != "c0ffee" {
		t.Errorf("%v: %+v", err, s)
	}
}

func TestAKeyThatIsNoneIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, file + ".missing"} {
		if _, err := signer(name); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
