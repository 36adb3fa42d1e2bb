package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// target is an operating system and processor for which a binary is built.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func (t target) String() string { return t.os + "_" + t.arch }

// program is the file name of the binary.
func (t target) program() string {
	if t.os == "windows" {
		return "countersign.exe"
	}
	return "countersign"
}

// environment sets each environment variable that could change the bytes of the binary to
// the value for releases. CGO_ENABLED=0 makes the binary static.
func (t target) environment() []string {
	return []string{
		"GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GODEBUG=", "GOWORK=off", "GOTOOLCHAIN=local",
	}
}

// compile builds the program from a commit. The binary contains the id and time of the
// commit, and no paths of the machine that builds it.
func compile(ctx context.Context, c commit, t target, version, file string, more ...string) error {
	_, err := output(ctx, c.dir, append(t.environment(), more...), "go", "build", "-trimpath", "-buildvcs=true",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", file, "./cmd/countersign")
	return err
}

// checkReproducible builds the program twice, from two clones in different directories and
// with separate build caches, and fails unless both binaries have the same digest.
func checkReproducible(ctx context.Context, root string) (err error) {
	work, err := os.MkdirTemp("", "countersign-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	t := target{"linux", "amd64"}
	var sums [2]string
	for i, place := range []string{"one", filepath.Join("elsewhere", "two")} {
		c, err := checkout(ctx, root, work, place)
		if err != nil {
			return err
		}
		file := filepath.Join(work, fmt.Sprint("program-", i))
		env := []string{}
		if i == 1 { // otherwise the build cache would return the first binary
			env = append(env, "GOCACHE="+filepath.Join(work, "cache"))
		}
		if err := compile(ctx, c, t, "0.0.0-check", file, env...); err != nil {
			return err
		}
		if sums[i], err = digest(file); err != nil {
			return err
		}
		fmt.Printf("%s  %s, %s, commit %s, %s\n", sums[i], t, runtime.Version(), c.id, place)
	}
	if sums[0] != sums[1] {
		return errors.New("the same commit gave two different binaries")
	}
	return nil
}

func digest(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // the file is only read, so an error loses nothing
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
