// Command release builds everything that is published of Countersign: binaries, archives,
// packages, images, bills of materials and their checksums. The builds are reproducible: the
// same commit and the same release of Go give the same bytes on each machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

const usage = `release: builds what is published
  go run . build -version 0.1.0 [-out DIR] [-key FILE]   builds everything from the last commit; signs it with an Ed25519 key in PEM
  go run . check                             builds one binary twice, in separate clones, and compares the digests
  go run . licences                          prints the license of each dependency; fails if one is unknown
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return errors.New("no command was given")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	version := flags.String("version", "", "the version, as 0.1.0")
	out := flags.String("out", "../dist", "the directory to fill, missing or empty")
	key := flags.String("key", "", "the file of the private Ed25519 key that signs, in PEM")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	switch args[0] {
	case "build":
		return publish(ctx, root, *version, *out, *key)
	case "check":
		return checkReproducible(ctx, root)
	case "licences":
		return checkLicences(ctx, root)
	}
	fmt.Fprint(os.Stderr, usage)
	return fmt.Errorf("there is no command %q", args[0])
}
