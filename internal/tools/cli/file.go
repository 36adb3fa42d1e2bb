package cli

import (
	"errors"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// readDocument reads a JSON document from a file, or from standard input for "-",
// by the rules of the service: a misspelt field is refused here already, with
// every other problem, before anything is asked.
func readDocument(t *Terminal, path string, into any) error {
	text, err := readText(t, path)
	if err != nil {
		return err
	}
	if err := exactjson.Decode(text, into); err != nil {
		return Unusablef("%s: %v", path, err)
	}
	return nil
}

// readText reads as much as the service would take.
func readText(t *Terminal, path string) ([]byte, error) {
	return readFile(t, path, countersign.MaxBodyBytes)
}

// ownersOnly is the access of a file that its owner alone may read.
const ownersOnly = 0o600

// writeOwners is writeNew of a file that its owner alone may read, whoever could read
// one that was there. A device is left as it is.
func writeOwners(path string, data []byte, force bool) error {
	f, err := openNew(path, ownersOnly, force)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = f.Chmod(ownersOnly)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Close())
}

// idOf is the id that a flag gives, else the one that the document has.
func idOf(flag string, document countersign.Value, path string) (string, error) {
	if id := first(flag, document.Text()); id != "" {
		return id, nil
	}
	return "", Unusablef("%s has no id; give one with --id", path)
}

// show asks a service for one record and prints it; seen is told what it was.
func show[T any](t *Terminal, a Asking, ask func(*client.Client) (*T, error), print func(io.Writer, *T), seen ...func(*T)) error {
	c, err := a.Client(t)
	if err != nil {
		return err
	}
	record, err := ask(c)
	if err != nil {
		return err
	}
	for _, tell := range seen {
		tell(record)
	}
	return a.Print(t, record, func(w io.Writer) { print(w, record) })
}
