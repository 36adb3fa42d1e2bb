package countersign_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// smallOrderKeys are all spellings of keys that anybody can sign for. The three verifiers of
// receipts read the same list.
func smallOrderKeys(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("internal/evidence/receipt/testdata/smallorder.txt")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
}

func TestAKeyOfSmallOrderIsNoKey(t *testing.T) {
	for _, text := range smallOrderKeys(t) {
		key, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if countersign.CheckEd25519(key) == nil {
			t.Errorf("%s is taken", text)
		}
	}
	one := make([]byte, 32)
	one[0] = 1
	for want, key := range map[string][]byte{
		"an Ed25519 key has 32 bytes":                               make([]byte, 31),
		"an Ed25519 key is not in the one form that it has":         append(bytes.Repeat([]byte{0xff}, 31), 0x7f),
		"an Ed25519 key is no point of the curve":                   append([]byte{2}, make([]byte, 31)...),
		"anybody can sign for this Ed25519 key: its order is small": one,
	} {
		if err := countersign.CheckEd25519(key); err == nil || err.Error() != want {
			t.Errorf("%x: %v, want %q", key, err, want)
		}
	}
}

func TestEachKeyThatIsMadeIsOne(t *testing.T) {
	for i := range 200 {
		seed := bytes.Repeat([]byte{byte(i)}, ed25519.SeedSize)
		key := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
		if err := countersign.CheckEd25519(key); err != nil {
			t.Errorf("%x: %v", key, err)
		}
	}
}
