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
	for name, key := range map[string][]byte{"short": make([]byte, 31), "none": nil, "above the prime": append(bytes.Repeat([]byte{0xff}, 31), 0x7f), "off the curve": append([]byte{2}, make([]byte, 31)...)} {
		if countersign.CheckEd25519(key) == nil {
			t.Errorf("%s: taken", name)
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
