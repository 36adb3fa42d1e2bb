package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/archive"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// interrupting is a file that interrupts the command while it is read.
type interrupting struct {
	io.Reader
	reads int
	stop  context.CancelFunc
}

func (i *interrupting) Read(into []byte) (int, error) {
	if i.reads++; i.reads == 3 {
		i.stop()
	}
	return i.Reader.Read(into)
}

func TestASignalEndsTheCheckOfAnArchiveAmidAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	noise := rand.New(rand.NewPCG(1, 2))
	line := []byte(`{"archive":"` + archive.Format + `","tenantId":"default","runs":0}` + "\n" + `{"plan":{"name":"`)
	for range 1 << 20 { // one long line that can't be compressed
		line = append(line, byte('a'+noise.IntN(26)))
	}
	if _, err := z.Write(append(line, "\"}}\n"...)); err != nil || z.Close() != nil || f.Close() != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f, err = os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	in := &interrupting{Reader: f, stop: stop}
	if _, err := readUntil(ctx, in, func(archive.Entry) error { return nil }); !errors.Is(err, context.Canceled) || in.reads > 3 {
		t.Errorf("%d reads, then: %v", in.reads, err)
	}
	if err := (&ArchiveVerify{Files: []string{path, path}}).Run(&terminal.Terminal{Context: ctx, Out: io.Discard, Errs: io.Discard}); terminal.Report(io.Discard, err) != terminal.ExitInterrupted {
		t.Errorf("interrupted, it ended with: %v", err)
	}
}

// TestAnArchiveWithoutTheRunSaysSo.
func TestAnArchiveWithoutTheRunSaysSo(t *testing.T) {
	const want = "runs.gz holds no run run-1"
	t.Chdir(t.TempDir())
	file, err := archive.Encode("acme", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("runs.gz", file, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = (&ArchiveShow{File: "runs.gz", ID: "run-1"}).Run(&terminal.Terminal{Context: t.Context(), Out: &out, Errs: &out})
	if err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

// TestAnArchiveOfBeforeHasNoReceipts, and one that has them prints one byte for byte, and nothing else.
func TestAnArchiveOfBeforeHasNoReceipts(t *testing.T) {
	const want = "runs.gz holds no receipt of run run-1: it was filed by a release that files none, or while the audit log did not verify"
	const receipt = `{"contents":{"n":1.50},"text":"<é>"}`
	t.Chdir(t.TempDir())
	p := &countersign.Plan{ID: "plan-1"}
	file, err := archive.Encode("acme", []archive.Entry{
		{Run: countersign.Run{ID: "run-1", PlanID: p.ID, PlanSnapshot: p}},
		{Run: countersign.Run{ID: "run-2", PlanID: p.ID, PlanSnapshot: p}, Receipt: countersign.RawValue(receipt)},
	})
	if err == nil {
		err = os.WriteFile("runs.gz", file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	in := &terminal.Terminal{Context: t.Context(), Out: &out, Errs: &out}
	if err := (&ArchiveShow{File: "runs.gz", ID: "run-1", Receipt: true}).Run(in); err == nil || err.Error() != want || out.Len() > 0 {
		t.Errorf("\n got %v\nwant %s\n%s", err, want, out.String())
	}
	if err := (&ArchiveShow{File: "runs.gz", ID: "run-2", Receipt: true}).Run(in); err != nil || out.String() != receipt {
		t.Errorf("%v %s", err, out.String())
	}
}
