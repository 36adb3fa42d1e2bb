package access

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawToken(t *rapid.T) (token string, random [32]byte) {
	copy(random[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "random"))
	return FormatToken(random), random
}

func TestTokenFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token, _ := drawToken(t)
		if len(token) != 53 || !strings.HasPrefix(token, "csn_") || strings.Trim(token[4:], base62) != "" || !WellFormed(token) {
			t.Fatalf("%s", token)
		}
	})
}

// The secret part gives the random bytes back, so no two tokens are the same.
func TestTokenHoldsAllItsBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, x := drawToken(t)
		b, y := drawToken(t)
		if (a == b) != (x == y) || (HashToken(a) == HashToken(b)) != (x == y) {
			t.Fatalf("%s and %s", a, b)
		}
	})
	for _, random := range [][32]byte{{}, {31: 1}, {0: 1}, [32]byte([]byte(strings.Repeat("\xff", 32)))} {
		if token := FormatToken(random); !WellFormed(token) {
			t.Errorf("%x gives %s", random, token)
		}
	}
}

// TestChecksumRefusesAnySingleTypo: another character at any place.
func TestChecksumRefusesAnySingleTypo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token, _ := drawToken(t)
		at := rapid.IntRange(0, len(token)-1).Draw(t, "at")
		typo := rapid.SampledFrom([]byte(base62+"_-. \x00\xff")).Filter(func(c byte) bool { return c != token[at] }).Draw(t, "typo")
		if wrong := token[:at] + string(typo) + token[at+1:]; WellFormed(wrong) {
			t.Fatalf("%q passes for %q", wrong, token)
		}
	})
}

func TestChecksumRefusesSwappedNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token, _ := drawToken(t)
		at := rapid.IntRange(0, len(token)-2).Draw(t, "at")
		if swapped := token[:at] + token[at+1:at+2] + token[at:at+1] + token[at+2:]; swapped != token && WellFormed(swapped) {
			t.Fatalf("%q passes for %q", swapped, token)
		}
	})
}

func TestTokenOfAnotherLengthIsRefused(t *testing.T) {
	token := FormatToken([32]byte{7})
	for _, wrong := range []string{"", "csn_", token[:52], token + "0", " " + token, token + "\n", strings.ToUpper(token), strings.Repeat("é", 27)} {
		if WellFormed(wrong) {
			t.Errorf("%q", wrong)
		}
	}
}

func TestHashIsSHA256InHex(t *testing.T) {
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := HashToken("abc"); got != want {
		t.Errorf("%s", got)
	}
}
