package checkpoint

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

var seed = make([]byte, ed25519.SeedSize)

// TestALogsVKeyIsWhatTheLibraryOfSignedNotesMakes, and its signatures are good there.
func TestALogsVKeyIsWhatTheLibraryOfSignedNotesMakes(t *testing.T) {
	s := NewSigner("example.com/log", seed)
	vkey, err := note.NewEd25519VerifierKey("example.com/log", s.public)
	if err != nil || vkey != s.Key.String() {
		t.Fatalf("%s, not %s: %v", s.Key, vkey, err)
	}
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := Sign(Head{Origin: "example.com/log", Size: 3, Hash: tlog.RecordHash([]byte("a"))}, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := note.Open([]byte(signed), note.VerifierList(verifier)); err != nil {
		t.Error(err)
	}
}

// TestTheKeyIDOfAWitnessIsThatOfTheProtocol: a witness.s vkey is read as it is written, and is not
// that of a log of the same name and key.
func TestTheKeyIDOfAWitnessIsThatOfTheProtocol(t *testing.T) {
	public, err := hex.DecodeString("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c") // RFC 8032, 7.1, test 2
	if err != nil {
		t.Fatal(err)
	}
	k := WitnessKey("witness.example/w1", public)
	parsed, err := ParseWitnessKey(k.String())
	if err != nil || parsed.String() != k.String() || parsed.KeyHash() != k.KeyHash() {
		t.Errorf("%v, %v", parsed, err)
	}
	if log := LogKey("witness.example/w1", public); log.KeyHash() == k.KeyHash() {
		t.Error("a log's key and a witness's of the same name have one hash")
	}
}

func TestAKeyIsReadInOneSpellingOnly(t *testing.T) {
	good := NewSigner("example.com/log", seed).Key.String()
	witness := NewCosigner("w.example", seed, 0).Key.String()
	small := LogKey("example.com/log", make([]byte, ed25519.PublicKeySize)).String()
	for _, bad := range []string{"", good[1:], good + "=", strings.Replace(good, "+", "+0", 1), strings.ToUpper(good), "a b" + good, small, "x+00000000+AAAA"} {
		if _, err := ParseLogKey(bad); !errors.Is(err, errVKey) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := ParseLogKey(witness); !errors.Is(err, errLog) {
		t.Errorf("a witness's key is taken for a log's: %v", err)
	}
	if _, err := ParseWitnessKey(good); !errors.Is(err, errWitness) {
		t.Errorf("a log's key is taken for a witness's: %v", err)
	}
}

func TestACheckpointIsReadInOneSpellingOnly(t *testing.T) {
	h := Head{Origin: "o", Size: 7, Hash: tlog.RecordHash(nil)}
	if got, err := ParseHead(h.Text() + "an extension\n"); err != nil || got != h {
		t.Errorf("%+v, %v", got, err)
	}
	lines := strings.SplitAfter(h.Text(), "\n")
	for _, bad := range []string{
		"", "o\n", lines[0] + lines[1], strings.TrimSuffix(h.Text(), "\n"), "\n" + lines[1] + lines[2], lines[0] + "07\n" + lines[2], lines[0] + "-7\n" + lines[2],
		lines[0] + "7 \n" + lines[2], lines[0] + lines[1] + lines[2][1:], h.Text() + "\n", lines[0] + "9223372036854775808\n" + lines[2], lines[0] + lines[1] + strings.Replace(lines[2], "=", "", 1),
	} {
		if got, err := ParseHead(bad); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%q is read: %+v", bad, got)
		}
	}
}

func TestACosignatureSaysWhenAndIsTheWitnesssAlone(t *testing.T) {
	log, w, other := NewSigner("o", seed), NewCosigner("w.example", seed, 1234567), NewCosigner("v.example", seed, 5)
	signed, err := Sign(Head{Origin: "o", Size: 1, Hash: tlog.RecordHash(nil)}, log)
	if err != nil {
		t.Fatal(err)
	}
	text := signed[:strings.Index(signed, "\n\n")+1]
	line, err := Cosign(text, w)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := Joined(signed, line, w.Key)
	if err != nil {
		t.Fatal(err)
	}
	found := Cosignatures(joined, []Key{other.Key, w.Key})
	if len(found) != 1 || found[0].At.Unix() != 1234567 || found[0].Line != line || found[0].Witness.String() != w.Key.String() {
		t.Errorf("%+v", found)
	}
	if h, err := Open(joined, log.Key); err != nil || h.Size != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	for what, bad := range map[string]string{
		"another witness's": must(Cosign(text, other)), "of another text": must(Cosign("o\n2\n"+strings.SplitAfter(text, "\n")[2], w)),
		"nothing": "", "no line": "hello\n", "the log's": must(Cosign(text, log)),
	} {
		if _, err := Joined(signed, bad, w.Key); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s is taken for its cosignature: %v", what, err)
		}
	}
}

func must(line string, err error) string {
	if err != nil {
		panic(err)
	}
	return line
}

func TestASubmissionIsReadAsItWasWritten(t *testing.T) {
	s := Submission{Old: 12, Proof: []tlog.Hash{tlog.RecordHash(nil), tlog.NodeHash(tlog.Hash{}, tlog.Hash{})}, Checkpoint: "o\n13\nx\n\n— o y\n"}
	got, err := ParseSubmission(s.Text())
	if err != nil || got.Old != 12 || len(got.Proof) != 2 || got.Proof[1] != s.Proof[1] || got.Checkpoint != s.Checkpoint || got.Origin() != "o" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "old 1\n", "old 01\n\no\n", "old -1\n\no\n", "new 1\n\no\n", "old 1\nAAAA\n\no\n", "old 1\n" + strings.Repeat(strings.Split(s.Text(), "\n")[1]+"\n", 64) + "\no\n"} {
		if _, err := ParseSubmission(bad); !errors.Is(err, errSubmission) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestWhatIsNoneIsToldInWords, as they stand in settings and answers.
func TestWhatIsNoneIsToldInWords(t *testing.T) {
	for want, err := range map[string]error{
		"it is no checkpoint: an origin, a size and a hash in base64, each on a line":          second(ParseHead("")),
		"it is no vkey of an Ed25519 key: NAME+8 digits of hex+base64":                         second(ParseLogKey("")),
		"it is no vkey of a log: its key is a witness's":                                       second(ParseLogKey(NewCosigner("w", seed, 0).Key.String())),
		"it is no vkey of a witness: its key signs no cosignatures":                            second(ParseWitnessKey(NewSigner("w", seed).Key.String())),
		"it has no valid signature of that key":                                                second(Open(must(Sign(Head{Origin: "o", Size: 1}, NewSigner("o", seed))), NewSigner("p", seed).Key)),
		"it is no submission: old SIZE, the lines of a proof, an empty line, and a checkpoint": second(ParseSubmission("")),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
