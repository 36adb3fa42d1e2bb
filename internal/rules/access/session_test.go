package access_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/rules/access"
)

func random(i int) [32]byte { return sha256.Sum256(fmt.Append(nil, i)) }

func TestACSRFTokenIsOfOneSessionAndTellsNothingOfIt(t *testing.T) {
	a, b := access.FormatSecret(random(1)), access.FormatSecret(random(2))
	token := access.CSRFToken(a)
	if !access.ValidCSRF(a, token) {
		t.Error("its own is refused")
	}
	for _, wrong := range []string{"", "x", a, access.HashToken(a), access.CSRFToken(b), token[:len(token)-1], token + "0", strings.ToUpper(token)} {
		if access.ValidCSRF(a, wrong) {
			t.Errorf("%q is taken", wrong)
		}
	}
	if token == access.HashToken(a) || strings.Contains(token, a) {
		t.Error("it is what the store or the browser knows the session by")
	}
}

func TestAMaskedCSRFTokenIsTakenAndNeverTheSameText(t *testing.T) {
	a, b := access.FormatSecret(random(1)), access.FormatSecret(random(2))
	one, two := access.MaskCSRF(access.CSRFToken(a), random(3)), access.MaskCSRF(access.CSRFToken(a), random(4))
	if !access.ValidCSRF(a, one) || !access.ValidCSRF(a, two) || one == two || strings.Contains(one, access.CSRFToken(a)) {
		t.Errorf("%s, %s", one, two)
	}
	for _, wrong := range []string{one[:127], one + "0", one[:64] + two[64:], access.MaskCSRF(access.CSRFToken(b), random(3)), strings.Repeat("0", 128)} {
		if access.ValidCSRF(a, wrong) {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestCodesAreEightDigitsAndEvenlySpread(t *testing.T) {
	const n = 40_000
	var counts [8][10]int
	for i := range n {
		code := access.FormatCode(random(i))
		if len(code) != 8 || strings.Trim(code, "0123456789") != "" {
			t.Fatalf("%q", code)
		}
		for place, digit := range code {
			counts[place][digit-'0']++
		}
	}
	for place, digits := range counts { // 60 is one standard deviation
		for digit, c := range digits {
			if c < n/10-400 || c > n/10+400 {
				t.Errorf("digit %d is at place %d %d times of %d", digit, place, c, n)
			}
		}
	}
}

func TestOnlyWhatWasWrittenAsASecretIsWorthALook(t *testing.T) {
	good := access.FormatSecret(random(1))
	if !access.WellFormedSecret(good) {
		t.Errorf("%q is refused", good)
	}
	for _, bad := range []string{"", "0", good[:63], good + "0", strings.ToUpper(good), strings.Replace(good, good[:1], "g", 1), strings.Repeat("é", 32), strings.Repeat(" ", 64), "csn_" + good[4:]} {
		if access.WellFormedSecret(bad) {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestACodesHashIsOfItsSignIn(t *testing.T) {
	if access.HashCode("s", "12345678") == access.HashCode("t", "12345678") || access.HashCode("s", "1") == access.HashCode("s", "2") {
		t.Error("two are the same")
	}
	if access.HashCode("s", "1") == access.HashToken("1") {
		t.Error("it is the code's bare hash")
	}
}

func TestCookiesAreBoundToTheHostOnHTTPS(t *testing.T) {
	if access.CookieName(true) != "__Host-countersign" || access.CookieName(false) != "countersign" {
		t.Error(access.CookieName(true), access.CookieName(false))
	}
}
