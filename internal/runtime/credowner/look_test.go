package credowner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/runtime/credowner"
)

// TestAVariableThatSignsAtSeveralOriginsIsShared unless an entry names each of them: with the secret
// of one, anybody could sign for the other.
func TestAVariableThatSignsAtSeveralOriginsIsShared(t *testing.T) {
	const a, b, both = "https://a.example", "https://b.example", "[{K [https://a.example https://b.example]}]"
	for _, test := range []struct{ signing, uses, want string }{
		{"K", "acme HMAC " + a, "[]"},
		{"K", "acme HMAC " + a + ",acme HMAC " + a, "[]"},
		{"K", "acme HMAC " + a + ",acme HMAC " + b, both},
		{"K", "acme HMAC " + a + ",acme BEARER " + b, "[]"},
		{"K", "acme HMAC " + a + ",acme HMAC ", "[]"}, // LOCAL_ECHO without an address
		{"acme/K beta/K", "acme HMAC " + a + ",beta HMAC " + b, both},
		{"K@" + a + " K@" + b, "acme HMAC " + a + ",acme HMAC " + b, "[]"},
		{"acme/K@" + a + " acme/K", "acme HMAC " + a + ",acme HMAC " + b, both},
		{"acme/K@" + a + " beta/K@" + b, "acme HMAC " + a + ",beta HMAC " + b, "[]"},
	} {
		var lists credential.Lists
		for _, item := range strings.Fields(test.signing) {
			e, err := credential.ParseEntry(item)
			if err != nil {
				t.Fatal(err)
			}
			lists.Signing = append(lists.Signing, e)
		}
		var look credowner.Look
		for _, use := range strings.Split(test.uses, ",") {
			part := strings.SplitN(use, " ", 3)
			look.Uses = append(look.Uses, credowner.Use{Use: credential.Use{Tenant: part[0], Kind: part[1], Origin: part[2], Name: "K"}})
		}
		if got := fmt.Sprint(look.Shared(lists)); got != test.want {
			t.Errorf("entries %s, uses %s: %s; expected %s", test.signing, test.uses, got, test.want)
		}
	}
}
