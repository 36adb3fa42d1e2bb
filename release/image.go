package main

import (
	"bytes"
	"encoding/pem"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the id of the user that the image runs as. This user owns the folders that the
// program may write.
const nobody = 65532

// image makes the same image as deploy/Dockerfile, without a container daemon and without a
// registry, as a file for `docker load` and `podman load`.
func image(t target, program []byte, dockerfile, version string, at time.Time) ([]byte, error) {
	config, err := configOf(dockerfile)
	if err != nil {
		return nil, err
	}
	layer, err := tarOf([]entry{
		{name: "data/", mode: 0o700, uid: nobody}, {name: "etc/", mode: 0o755}, {name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, body: roots()}, {name: "tmp/", mode: 0o700, uid: nobody},
		{name: "usr/", mode: 0o755}, {name: "usr/bin/", mode: 0o755}, {name: "usr/bin/countersign", mode: 0o755, body: program},
	}, at)
	if err != nil {
		return nil, err
	}
	of := mutate.Addendum{Layer: static.NewLayer(layer, types.DockerUncompressedLayer), History: v1.History{Created: v1.Time{Time: at}, CreatedBy: "release " + version}}
	built, err := mutate.Append(empty.Image, of)
	if err != nil {
		return nil, err
	}
	file, err := built.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created, file.Config = t.os, t.arch, v1.Time{Time: at}, config
	if built, err = mutate.ConfigFile(built, file); err != nil {
		return nil, err
	}
	tag, err := name.NewTag("countersign:" + version)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = tarball.Write(tag, built, &b)
	return b.Bytes(), err
}

// roots returns the certificate authorities that Mozilla trusts, as PEM. Authorities that are
// trusted with constraints are left out, since a PEM file can't express constraints.
func roots() []byte {
	var b bytes.Buffer
	for r := range bundle.Roots() {
		if r.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate}) // writing to a buffer can't fail
		}
	}
	return b.Bytes()
}
