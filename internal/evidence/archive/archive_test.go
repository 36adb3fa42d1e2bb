package archive_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/archive"
)

func sample() []archive.Entry {
	p := &countersign.Plan{ID: "plan-1", Name: "Refund"}
	var list []archive.Entry
	for _, id := range []string{"run-1", "run-2"} {
		list = append(list, archive.Entry{
			Run:       countersign.Run{ID: id, PlanID: "plan-1", PlanSnapshot: p, Steps: []countersign.StepRun{{ID: "a", Output: countersign.RawValue("1e400")}}},
			Approvals: []countersign.Approval{{ID: "approval-" + id, Capability: "seen"}},
		})
	}
	return list
}

func encoded(t *testing.T) []byte {
	t.Helper()
	doc, err := archive.Encode("acme", sample())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestFileGivesBackWhatWasFiled(t *testing.T) {
	doc := encoded(t)
	var ids string
	sum, err := archive.Read(bytes.NewReader(doc), func(e archive.Entry) error {
		ids += e.Run.ID + " " + e.Run.PlanSnapshot.Name + " " + e.Run.Steps[0].Output.Raw() + " " + e.Approvals[0].Capability + "; "
		return nil
	})
	if err != nil || ids != "run-1 Refund 1e400 seen; run-2 Refund 1e400 seen; " {
		t.Errorf("%q, %v", ids, err)
	}
	if sum.TenantID != "acme" || sum.Runs != 2 || sum.SHA256 != countersign.SHA256Hex(doc) {
		t.Errorf("the summary is %+v", sum)
	}
}

// TestDamageOfAnyByteIsSeen: by gzip, by the lines' own digest, or by the digest of
// the file, which is then not the one that the audit log holds.
func TestDamageOfAnyByteIsSeen(t *testing.T) {
	doc := encoded(t)
	for at := range doc {
		bad := bytes.Clone(doc)
		bad[at] ^= 1
		sum, err := archive.Read(bytes.NewReader(bad), func(archive.Entry) error { return nil })
		if err == nil && sum.SHA256 == countersign.SHA256Hex(doc) {
			t.Fatalf("a flipped bit at %d went unseen", at)
		}
	}
}

// TestForgedLineIsSeen: a file whose lines were changed and packed anew isn't whole.
func TestForgedLineIsSeen(t *testing.T) {
	text := unpacked(t, encoded(t))
	for name, forged := range map[string]string{
		"a changed word":  strings.Replace(text, "Refund", "Refunt", 1),
		"a line less":     strings.Join(append(strings.SplitAfter(text, "\n")[:2], strings.SplitAfter(text, "\n")[3:]...), ""),
		"no last line":    text[:strings.LastIndex(strings.TrimSpace(text), "\n")+1],
		"a line more":     text + `{"run":{}}` + "\n",
		"another kind":    strings.Replace(text, `"run":`, `"ran":`, 1),
		"another format":  strings.Replace(text, archive.Format, "countersign-runs/9", 1),
		"nothing":         "",
		"another number":  strings.Replace(text, `"runs":2`, `"runs":3`, 1),
		"no JSON at all ": "hello\n",
	} {
		if _, err := archive.Read(bytes.NewReader(packed(t, forged)), func(archive.Entry) error { return nil }); err == nil {
			t.Errorf("%s went unseen", name)
		}
	}
}

func unpacked(t *testing.T, doc []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestALongFirstLineIsNotRead: a small file may unpack to one line of any length.
func TestALongFirstLineIsNotRead(t *testing.T) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, io.LimitReader(zeros{}, 2<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := packed.Bytes()
	rest := bytes.NewReader(file)
	_, err = archive.Read(rest, func(archive.Entry) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "first line") {
		t.Errorf("%v", err)
	}
	if read := len(file) - rest.Len(); read > 256<<10 {
		t.Errorf("%d of %d bytes were read", read, len(file))
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}
