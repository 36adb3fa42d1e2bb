package typed

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// ReadDocument reads a JSON document from a file, or from standard input for "-", with the
// rules of the service, so that a misspelt field and every other problem is reported before
// the service is called.
func ReadDocument(t *terminal.Terminal, path string, into any) error {
	text, err := ReadText(t, path)
	if err != nil {
		return err
	}
	if err := exactjson.Decode(text, into); err != nil {
		return terminal.Unusablef("%s: %v", path, err)
	}
	return nil
}

// ReadText reads a file up to the size that the service accepts.
func ReadText(t *terminal.Terminal, path string) ([]byte, error) {
	return ReadFile(t, path, countersign.MaxBodyBytes)
}
