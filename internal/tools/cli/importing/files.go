package importing

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
)

// below lets a document that is a file refer to others in its folder, and below it. The folder
// is opened once: no name and no link leads out of it. The result closes it.
func (a *OpenAPI) below(d *importer.Document) (close func()) {
	if a.Source == "-" || typed.IsURL(a.Source) {
		return func() {}
	}
	folder, err := os.OpenRoot(filepath.Dir(a.Source))
	if err != nil {
		return func() {} // then it refers to none
	}
	d.Below(filepath.Base(a.Source), func(name string, most int) ([]byte, error) { return readBelow(folder, name, most) })
	return func() { _ = folder.Close() }
}

// readBelow reads a regular file: a pipe or a device could hold the import up for ever.
func readBelow(folder *os.Root, name string, most int) ([]byte, error) {
	is, err := folder.Stat(name)
	switch {
	case err != nil:
		return nil, pathless(err)
	case !is.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case is.Size() > int64(most):
		return nil, fmt.Errorf("the document's files are larger than %d bytes together; bundle it first", importer.MaxDocumentBytes)
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, pathless(err)
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, int64(most)))
}

// pathless is an error without the path, which the caller names.
func pathless(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// pairs reads the flags of the form NAME=VALUE.
func (a *OpenAPI) pairs(o *importer.Options) error {
	for _, text := range a.Header {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" {
			return terminal.Unusablef("--header: %q must be NAME=VALUE, such as X-Api-Version=2026-01", text)
		}
		if o.Headers == nil {
			o.Headers = countersign.Headers{}
		}
		o.Headers[name] = value
	}
	for _, text := range a.Policy {
		i := strings.LastIndexByte(text, '=')
		if i < 0 || !slices.Contains([]string{countersign.ApprovalAlways, countersign.ApprovalRiskBased, countersign.ApprovalNone}, text[i+1:]) {
			return terminal.Unusablef("--policy: %q must be TAG=ALWAYS, TAG=RISK_BASED or TAG=NONE", text)
		}
		if o.Policies == nil {
			o.Policies = map[string]string{}
		}
		o.Policies[text[:i]] = text[i+1:]
	}
	return nil
}
