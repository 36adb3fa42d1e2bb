package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign/deploy"
	"github.com/countersign/countersign/internal/tools/cli"
)

// filesCommand hands out the configuration that ships with the product.
type filesCommand struct {
	Name string `arg:"" optional:"" help:"A file to print, or with --out to write; a folder's ends with /. Default: all."`
	Out  string `placeholder:"DIR" help:"Write into this folder. A file that is there is not overwritten."`
	cli.Output
}

// Help says whose the files are.
func (filesCommand) Help() string {
	return "The files are those of this release. Without a name they are listed, with one it is printed. Each says at its beginning how it is used."
}

// Run lists, prints or writes.
func (c *filesCommand) Run(t *cli.Terminal) error {
	names := c.names()
	switch {
	case len(names) == 0:
		return cli.Unusablef("there is no file %q; countersign files lists them", c.Name)
	case c.Out != "":
		return writeFiles(t.Out, c.Out, names)
	case c.Name == "":
		return c.Print(t, deploy.Purposes, printPurposes)
	case len(names) > 1 || names[0] != c.Name:
		return cli.Unusablef("%s is a folder: give --out, or one of %s", c.Name, strings.Join(names, ", "))
	}
	text, err := deploy.Read(names[0])
	if err == nil {
		_, err = t.Out.Write(text)
	}
	return err
}

func (c *filesCommand) names() (names []string) {
	if c.Name != "" {
		return deploy.Names(c.Name)
	}
	for _, p := range deploy.Purposes {
		names = append(names, deploy.Names(p.Name)...)
	}
	return names
}

func printPurposes(w io.Writer) {
	rows := make([][]string, len(deploy.Purposes))
	for i, p := range deploy.Purposes {
		rows[i] = []string{p.Name, p.For}
	}
	cli.Table(w, []string{"file", "for"}, rows)
}

// writeFiles writes all or, where one of them is there already, nothing.
func writeFiles(w io.Writer, dir string, names []string) error {
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
			return cli.Unusablef("%s: it is there already, and not overwritten: name another folder", filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	for _, name := range names {
		if err := writeFile(dir, name); err != nil {
			return cli.Unusablef("%v", err)
		}
	}
	fmt.Fprintf(w, "wrote %d files into %s\n", len(names), cli.Plain(dir))
	return nil
}

func writeFile(dir, name string) error {
	text, err := deploy.Read(name)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		mode = 0o755
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Chmod(mode), f.Close()) // containers read some of them as another user
}
