package cli

import (
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/exact"
)

// readDocument reads a JSON document from a file, or from standard input for "-",
// by the rules of the service: a misspelt field is refused here already, with
// every other problem, before anything is asked.
func readDocument(t *Terminal, path string, into any) error {
	text, err := readText(t, path)
	if err != nil {
		return err
	}
	if err := exact.Decode(text, into); err != nil {
		return Unusablef("%s: %v", path, err)
	}
	return nil
}

// readText reads as much as the service would take.
func readText(t *Terminal, path string) ([]byte, error) {
	return readFile(t, path, countersign.MaxBodyBytes)
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
