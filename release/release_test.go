package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

var at = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func dockerfile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheSameFilesGiveTheSameArchive(t *testing.T) {
	entries := []entry{{name: "a/", mode: 0o755}, {name: "a/program", mode: 0o755, body: bytes.Repeat([]byte("x"), 100_000)}}
	for _, on := range targets {
		_, one, err := archive(on, entries, at)
		if err != nil {
			t.Fatal(err)
		}
		if _, two, err := archive(on, entries, at); err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: two archives differ, %v", on, err)
		}
		if _, later, err := archive(on, entries, at.Add(time.Hour)); err != nil || bytes.Equal(one, later) {
			t.Errorf("%s: the time is not in the archive, %v", on, err)
		}
	}
}

func TestTheImageIsTheDockerfiles(t *testing.T) {
	program := []byte("program")
	text, err := image(target{"linux", "arm64"}, program, dockerfile(t), "0.1.0", at)
	if err != nil {
		t.Fatal(err)
	}
	built, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := built.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	if c.User != "65532:65532" || !reflect.DeepEqual(c.Entrypoint, []string{"/usr/bin/countersign"}) || !reflect.DeepEqual(c.Cmd, []string{"serve"}) ||
		file.Architecture != "arm64" || len(c.Env) != 3 || !strings.HasPrefix(c.Env[1], "SVC_PLATFORM_STORE=/data/") {
		t.Errorf("%+v", c)
	}
	layers, err := built.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	from, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*tar.Header{}
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = h
	}
	if p := files["usr/bin/countersign"]; p == nil || p.Size != int64(len(program)) || p.Uid != 0 || p.Mode != 0o755 {
		t.Errorf("the program is %+v", p)
	}
	if d := files["data/"]; d == nil || d.Uid != nobody {
		t.Errorf("the store's folder is %+v", d)
	}
	if r := files["etc/ssl/certs/ca-certificates.crt"]; r == nil || r.Size < 100_000 {
		t.Errorf("the authorities are %+v", r)
	}
}

func TestADockerfileThatSaysMoreThanIsUnderstoodIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"an instruction": dockerfile(t) + "\nVOLUME /data\n", "no user": strings.ReplaceAll(dockerfile(t), "USER ", "# "), "a shell": strings.ReplaceAll(dockerfile(t), `CMD ["serve"]`, "CMD serve"),
	} {
		if _, err := configOf(text); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestOnlyLicencesThatMayBePassedOnAreKnown(t *testing.T) {
	for text, want := range map[string][]string{
		"MIT License\n\nPermission is hereby granted, free\nof charge, to any person obtaining a copy of":  {"MIT"},
		"Redistribution and use in source and binary forms, with or":                                       {"BSD-2-Clause"},
		"Apache License\n   Version 2.0, January 2004":                                                     {"Apache-2.0"},
		"GNU GENERAL PUBLIC LICENSE Version 3":                                                             nil,
		"GNU AFFERO licence. Permission is hereby granted, free of charge, to any person obtaining a copy": nil,
		"All rights reserved.": nil,
	} {
		if got := identify(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestABillNamesEveryModuleOfABinary: the binary is the one of this test.
func TestABillNamesEveryModuleOfABinary(t *testing.T) {
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := bill(file, "0.1.0", at, map[string][]string{"github.com/CycloneDX/cyclonedx-go": {"Apache-2.0"}})
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		BOMFormat  string
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(text, &read); err != nil || read.BOMFormat != "CycloneDX" {
		t.Fatalf("%v\n%s", err, text)
	}
	named := map[string]string{}
	for _, c := range read.Components {
		named[c.Name] = c.Purl
	}
	if p := named["github.com/CycloneDX/cyclonedx-go"]; !strings.HasPrefix(p, "pkg:golang/github.com/CycloneDX/cyclonedx-go@v") || named["std"] == "" {
		t.Errorf("%v", named)
	}
}
