package credential_test

import (
	"testing"

	"github.com/countersign/countersign/internal/rules/credential"
)

// TestAnEntryThatIsNoneIsRefusedInWords reads each message; the operator meets it at the start.
func TestAnEntryThatIsNoneIsRefusedInWords(t *testing.T) {
	for text, want := range map[string]string{
		"2KEY":          `"2KEY" is no name of an environment variable; an entry is NAME, tenant/NAME, NAME@https://origin or tenant/NAME@https://origin`,
		"ac/me/K":       `"me/K" is no name of an environment variable; an entry is NAME, tenant/NAME, NAME@https://origin or tenant/NAME@https://origin`,
		"Acme/K":        `"Acme" is no tenant's id, which is 2 to 32 lower-case letters and digits, a letter first`,
		"K@shop":        "the origin behind @: must be an HTTP or HTTPS origin such as https://api.example.com",
		"acme/K@\u0020": "the origin behind @: must be ASCII without spaces; write international names in their xn-- form",
	} {
		if _, err := credential.ParseEntry(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nnot %s", text, err, want)
		}
	}
}

// TestAVariableThatIsNotUsableSaysWhy: what a registration and a call are refused with.
func TestAVariableThatIsNotUsableSaysWhy(t *testing.T) {
	for err, want := range map[error]string{
		credential.ErrNotListed: "is not on the server's list",
		credential.ErrElsewhere: "is listed for other tenants or origins only",
		credential.ErrOthers:    "belongs to another tenant, which registered it first",
		credential.ErrNobodys:   "belongs to no tenant: a project that uses it must be registered again",
	} {
		if err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}
