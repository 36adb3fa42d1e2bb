package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/archive"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Archive is the commands on archive files of finished runs. They use no service.
type Archive struct {
	Verify ArchiveVerify `cmd:"" help:"Check that files are whole." example:"archive verify countersign-data/archive/default/runs-2026-11-21-4f1d0c2b9a7e6358.jsonl.gz"`
	Show   ArchiveShow   `cmd:"" help:"Print a run of a file." example:"archive show runs-2026-11-21-4f1d0c2b9a7e6358.jsonl.gz run-3oc23elhaojfo6suqpq"`
}

// ArchiveVerify is the command `archive verify`.
type ArchiveVerify struct {
	Files []string `arg:"" help:"Files of the archive." placeholder:"FILE"`
	terminal.Output
}

// Help says what is proven.
func (ArchiveVerify) Help() string {
	return "Each file says by itself whether it is whole. That it is the one that the service wrote says its SHA-256: the audit log holds it, under the action runs.archive and the file's name."
}

// Run checks each file, and returns an error if one of them is damaged.
func (v *ArchiveVerify) Run(t *terminal.Terminal) error {
	found := make([]archive.Summary, 0, len(v.Files))
	var broken error
	for _, name := range v.Files {
		s, err := readArchive(t.Context, name, func(archive.Entry) error { return nil })
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			fmt.Fprintf(t.Errs, "%s: %v\n", words.Plain(name), err)
			broken = errors.New("not every file is whole")
			continue
		}
		found = append(found, s)
	}
	err := v.Print(t, found, func(w io.Writer) {
		rows := make([][]string, len(found))
		for i, s := range found {
			rows[i] = []string{s.TenantID, strconv.Itoa(s.Runs), s.SHA256}
		}
		terminal.Table(w, []string{"tenant", "runs", "sha256"}, rows)
	})
	return errors.Join(broken, err)
}

// ArchiveShow is the command `archive show`.
type ArchiveShow struct {
	File string `arg:"" help:"A file of the archive." placeholder:"FILE"`
	ID   string `arg:"" help:"A run's id." placeholder:"RUN"`

	Receipt bool `help:"Print the receipt that is filed with the run, and nothing else: 'countersign receipt verify' checks it."`
}

// Run prints the run with its plan and its approvals, as JSON, or its receipt.
func (s *ArchiveShow) Run(t *terminal.Terminal) error {
	var found *archive.Entry
	if _, err := readArchive(t.Context, s.File, func(e archive.Entry) error {
		if e.Run.ID == s.ID {
			found = &e
		}
		return nil
	}); err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	if found == nil {
		return fmt.Errorf("%s holds no run %s", s.File, s.ID)
	}
	if s.Receipt {
		if found.Receipt.IsZero() {
			return fmt.Errorf("%s holds no receipt of run %s: it was filed by a release that files none, or while the audit log did not verify", s.File, s.ID)
		}
		_, err := io.WriteString(t.Out, found.Receipt.Raw())
		return err
	}
	return terminal.Output{Format: "json"}.Print(t, struct {
		Run       countersign.Run        `json:"run"`
		Approvals []countersign.Approval `json:"approvals"`
	}{found.Run, found.Approvals}, nil)
}

func readArchive(ctx context.Context, name string, each func(archive.Entry) error) (archive.Summary, error) {
	f, err := os.Open(name)
	if err != nil {
		return archive.Summary{}, err
	}
	defer func() { _ = f.Close() }()
	return readUntil(ctx, f, each)
}

// readUntil reads an archive until the command is interrupted. It then returns the error of
// the interruption instead of one about the line that was cut off.
func readUntil(ctx context.Context, in io.Reader, each func(archive.Entry) error) (archive.Summary, error) {
	s, err := archive.Read(until{ctx, in}, each)
	if stopped := ctx.Err(); err != nil && stopped != nil {
		err = stopped
	}
	return s, err
}

// until is a reader that ends when the command is interrupted.
type until struct {
	context.Context
	in io.Reader
}

func (u until) Read(into []byte) (int, error) {
	if err := u.Err(); err != nil {
		return 0, err
	}
	return u.in.Read(into)
}
