package cli

import (
	"errors"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// readDocument reads a JSON document from a file, or from standard input for "-", with the
// rules of the service, so that a misspelt field and every other problem is reported before
// the service is called.
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

// readText reads a file up to the size that the service accepts.
func readText(t *Terminal, path string) ([]byte, error) {
	return readFile(t, path, countersign.MaxBodyBytes)
}

// ownersOnly is the access of a file that its owner alone may read.
const ownersOnly = 0o600

// writeOwners is writeNew for a file that only its owner may read, also if it replaces a
// file that others could read. It leaves the access rights of a device as they are.
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

// idOf is the id in a flag, else the one in the document.
func idOf(flag string, document countersign.Value, path string) (string, error) {
	if id := first(flag, document.Text()); id != "" {
		return id, nil
	}
	return "", Unusablef("%s has no id; give one with --id", path)
}

// show requests one record from a service and prints it; it calls seen with the record.
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
