package receipt

import (
	"bytes"
	"crypto/ed25519"
	"regexp"
	"slices"
	"testing"

	"github.com/countersign/countersign"
)

func built(t testing.TB, f Facts, key ed25519.PrivateKey) []byte {
	t.Helper()
	file, err := Build(f, key)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// fullest is a receipt with an approval and a reconciliation: of the drawn ones the
// shortest, since each of its bytes is altered.
func fullest(t *testing.T) (file []byte) {
	t.Helper()
	for seed := range uint64(200) {
		f := draw(t, seed)
		reconciled := func(s countersign.StepRun) bool { return s.Reconciliation != nil }
		if len(f.Approvals) == 0 || !slices.ContainsFunc(f.Run.Steps, reconciled) || f.Masked {
			continue
		}
		if other := built(t, f, keyOf(1)); file == nil || len(other) < len(file) {
			file = other
		}
	}
	return file
}

func TestReceiptIsOneCanonicalValue(t *testing.T) {
	for seed := range uint64(200) {
		file := built(t, draw(t, seed), keyOf(1))
		if canonical := countersign.RawValue(string(file)).Canonical(); !bytes.Equal(file, canonical) {
			t.Fatalf("%s\n%s", file, canonical)
		}
	}
}

func TestTheSameFactsMakeTheSameReceipt(t *testing.T) {
	if a, b := built(t, draw(t, 4), keyOf(1)), built(t, draw(t, 4), keyOf(1)); !bytes.Equal(a, b) {
		t.Error("two receipts of the same facts differ")
	}
}

// partAt names the part of a good receipt that a byte belongs to.
func partAt(ranges map[string][2]int, at int) string {
	for name, r := range ranges {
		if at >= r[0] && at < r[1] {
			return name
		}
	}
	return Frame
}

func partsOf(file []byte) map[string][2]int {
	contents := contentsForm.FindSubmatch(file[len(opening):])
	ranges := map[string][2]int{Contents: {len(opening), len(opening) + len(contents[0])}, Signature: {len(file) - 1 - signatureLength, len(file) - 1}}
	whole, _, _ := open(file)
	at := len(opening) + len(contents[0]) + len(beforeSections)
	for i, name := range Sections {
		at += len(before(i, name))
		ranges[name] = [2]int{at, at + len(whole.sections[i])}
		at += len(whole.sections[i])
	}
	return ranges
}

// TestAnyAlteredByteIsFoundInItsSection: each position of a receipt, with one of its
// bits or with one of the bytes that JSON is made of; in -short those beside the bounds
// of its parts, and of the others some.
func TestAnyAlteredByteIsFoundInItsSection(t *testing.T) {
	t.Parallel()
	file := fullest(t)
	if v := Verify(file, public(keyOf(1))); !v.OK || !v.Origin {
		t.Fatalf("%+v", v)
	}
	all := []byte{'"', '\\', '{', '}', ',', '0', ' ', '\n', 0, 0xff}
	parts := partsOf(file)
	for at := range file {
		if testing.Short() && at%23 != 0 && partAt(parts, max(0, at-3)) == partAt(parts, min(len(file)-1, at+3)) {
			continue
		}
		want, was := partAt(parts, at), file[at]
		file[at] = was ^ 1<<(at%8)
		if b := all[at/3%len(all)]; at%3 == 0 && b != was {
			file[at] = b
		}
		if v := Verify(file, nil); v.OK || v.Section != want {
			t.Fatalf("byte %d from %q to %q: %q named, %q expected (%s)", at, was, file[at], v.Section, want, v.Problem)
		}
		file[at] = was
	}
}

// TestBytesThatCameOrWentAreFound, the ends included.
func TestBytesThatCameOrWentAreFound(t *testing.T) {
	file := fullest(t)
	ends, every := 600, 7
	if testing.Short() {
		ends, every = 100, 61
	}
	for at := 0; at <= len(file); at++ {
		if between := at > ends && at < len(file)-ends; between && at%every != 0 {
			continue
		}
		if v := Verify(slices.Insert(slices.Clone(file), at, ' '), nil); v.OK || v.Section == "" {
			t.Fatalf("a blank at %d is accepted", at)
		}
		if v := Verify(file[:at], nil); at < len(file) && (v.OK || v.Section == "") {
			t.Fatalf("cut at %d it is accepted", at)
		}
	}
}

func TestAnotherKeyIsNotTheOrigin(t *testing.T) {
	v := Verify(fullest(t), public(keyOf(2)))
	if v.OK || v.Section != Signature || v.Origin {
		t.Errorf("%+v", v)
	}
	if v := Verify(fullest(t), nil); !v.OK || v.Origin {
		t.Errorf("without a key: %+v", v)
	}
}

func TestKeysAreReadInOneSpellingOnly(t *testing.T) {
	key := public(keyOf(3))
	if got, ok := ParseKey(KeyText(key)); !ok || !got.Equal(key) {
		t.Error("a published key is not read")
	}
	for _, text := range []string{"", "00", KeyText(key)[1:], KeyText(key) + "0", "G" + KeyText(key)[1:], string(bytes.ToUpper([]byte(KeyText(key))))} {
		if _, ok := ParseKey(text); ok {
			t.Errorf("%q is read", text)
		}
	}
}

// TestAFormatOfALaterReleaseIsNotCalledInvalid: this verifier can't tell.
func TestAFormatOfALaterReleaseIsNotCalledInvalid(t *testing.T) {
	for seed := range uint64(20) {
		file := built(t, draw(t, seed), keyOf(1))
		later := bytes.Replace(file, []byte(formatOf(file)), []byte("countersign-receipt/3"), 1)
		if v := Verify(later, nil); v.OK || v.UnknownFormat != "countersign-receipt/3" || v.Section != Contents {
			t.Errorf("of a later format: %+v", v)
		}
		for _, format := range []string{"countersign-receipt/0", "countersign-receipt/x", "countersign-recipe/3"} {
			if v := Verify(bytes.Replace(file, []byte(formatOf(file)), []byte(format), 1), nil); v.OK || v.UnknownFormat != "" {
				t.Errorf("%s: %+v", format, v)
			}
		}
		other := map[string]string{Format: Format2, Format2: Format}[formatOf(file)]
		if v := Verify(bytes.Replace(file, []byte(formatOf(file)), []byte(other), 1), nil); v.OK || v.UnknownFormat != "" || v.Section != Contents {
			t.Errorf("relabelled as %s: %+v", other, v)
		}
	}
}

// TestTheFormatIsTheSecondForWhatTheThirdEditionBrought: nothing else changes it.
func TestTheFormatIsTheSecondForWhatTheThirdEditionBrought(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(50) {
		file, want := built(t, draw(t, seed), keyOf(1)), Format
		if regexp.MustCompile(`"(gate|restoredAt|differs|retryAfter|actorMakers\\|identity|identity\\|onBehalfOf|onBehalfOf\\)":`).Match(file) {
			want = Format2
		}
		if got := formatOf(file); got != want {
			t.Errorf("seed %d: %s, want %s", seed, got, want)
		}
		seen[want]++
	}
	if seen[Format] == 0 || seen[Format2] == 0 {
		t.Errorf("both are drawn: %v", seen)
	}
}
