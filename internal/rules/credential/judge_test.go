package credential_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
)

func list(t *testing.T, text string) (out []credential.Entry) {
	t.Helper()
	for _, item := range strings.Fields(text) {
		e, err := credential.ParseEntry(item)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

const (
	here  = "https://a.example"
	there = "http://b.example:8080"
)

// TestWhoMayUseAVariable by the lists and its binding.
func TestWhoMayUseAVariable(t *testing.T) {
	for _, test := range []struct {
		signing, general string
		boundTo          string
		use              string // tenant kind origin
		want             error
	}{
		{"", "K", "", "acme BEARER " + here, credential.ErrNobodys},
		{"", "K", "acme", "acme BEARER " + here, nil},
		{"", "K", "acme", "acme2 BEARER " + here, credential.ErrOthers},
		{"", "K", "acme2", "acme BEARER " + here, credential.ErrOthers},
		{"K", "", "acme", "acme BEARER " + here, credential.ErrNotListed},
		{"K", "", "acme", "acme HMAC " + here, nil},
		{"", "K", "acme", "acme HMAC " + here, nil},
		{"", "OTHER", "acme", "acme HMAC " + here, credential.ErrNotListed},
		{"", "acme/K", "", "acme BEARER " + here, nil},
		{"", "acme/K", "beta", "acme BEARER " + here, nil}, // an entry goes before a binding
		{"", "acme/K", "beta", "beta BEARER " + here, credential.ErrElsewhere},
		{"", "acme/K K", "beta", "beta BEARER " + here, credential.ErrElsewhere},
		{"K", "acme/K", "beta", "beta HMAC " + here, credential.ErrElsewhere}, // qualified on either list
		{"acme/K", "K", "beta", "beta BEARER " + here, credential.ErrNotListed},
		{"", "K@" + here, "acme", "acme BEARER " + here, nil},
		{"", "K@" + here, "acme", "acme BEARER " + there, credential.ErrElsewhere},
		{"", "K@" + here, "acme", "acme BEARER ", credential.ErrElsewhere}, // LOCAL_ECHO without an address
		{"", "K@" + here, "beta", "acme BEARER " + here, credential.ErrOthers},
		{"", "K@" + here + " K@" + there, "acme", "acme BEARER " + there, nil},
		{"", "K@" + here + " K", "acme", "acme BEARER " + there, credential.ErrElsewhere},
		{"", "acme/K@" + here, "", "acme BEARER " + there, credential.ErrElsewhere},
		{"", "acme/K@HTTPS://A.example:443/", "", "acme BEARER " + here, nil},
		{"", "acme/K@" + here + " beta/K@" + there, "", "beta BEARER " + here, credential.ErrElsewhere},
		{"", "acme/K K@" + there, "beta", "beta BEARER " + there, nil},
		{"", "acme/K K@" + there, "beta", "gamma BEARER " + there, credential.ErrOthers},
		{"", "acme/K", "", "ac BEARER " + here, credential.ErrElsewhere},
	} {
		l := credential.Lists{Signing: list(t, test.signing), General: list(t, test.general)}
		part := strings.SplitN(test.use, " ", 3)
		u := credential.Use{Tenant: part[0], Kind: part[1], Origin: part[2], Name: "K"}
		if err := l.Allows(u, test.boundTo); !errors.Is(err, test.want) {
			t.Errorf("signing %q, general %q, bound to %q: %s: %v; expected %v", test.signing, test.general, test.boundTo, test.use, err, test.want)
		}
	}
}

// TestASecretIsWeakBelowItsKindsLength, and one that isn't there is not.
func TestASecretIsWeakBelowItsKindsLength(t *testing.T) {
	for kind, least := range map[string]int{countersign.AuthHMAC: 32, countersign.AuthBearer: 16, countersign.AuthAPIKey: 16} {
		if credential.Weak(kind, 0) || !credential.Weak(kind, 1) || !credential.Weak(kind, least-1) || credential.Weak(kind, least) {
			t.Errorf("%s: not below %d bytes", kind, least)
		}
	}
}
