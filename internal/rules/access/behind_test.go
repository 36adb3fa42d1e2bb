package access

import (
	"testing"

	"github.com/countersign/countersign"
)

// A person for whom an agent asks counts as who asked, and a stranger could be anybody.

func TestThePersonBehindAnAgentDoesNotDecide(t *testing.T) {
	const issuer = "https://id.example.com"
	behalf := &countersign.OnBehalfOf{Issuer: issuer, Subject: "s"}
	byAda := Requester{ID: "agent:clerk", OnBehalfOf: behalf, Behind: []string{"user:Ada@example.com"}, Makers: []string{"user:mara@example.com"}}
	stranger := Requester{ID: "agent:clerk", OnBehalfOf: behalf, Stranger: true}
	person := func(name string, issuers ...string) Principal {
		email := name + "@example.com"
		return Principal{ID: "user:" + email, Email: email, Person: email, SignedInBy: issuers}
	}
	const (
		onBehalf = "self_approval: an agent asked for this run on your behalf, so someone else must decide"
		unknown  = "self_approval: an agent asked for this run on behalf of s at https://id.example.com, whom this service doesn't know and who could be you; a user who has signed in by https://id.example.com as somebody else decides"
	)
	adas := Principal{ID: "token:adas", Email: "ada@example.com", Person: "ada@example.com"}
	made := Principal{ID: "token:made", Email: "bob@example.com", Person: "bob@example.com", Lineage: []string{"user:ada@example.com"}}
	for _, test := range []struct {
		name  string
		eyes  Eyes
		judge Principal
		asked Requester
		want  string
	}{
		{"herself", EyesOfPrincipals, person("ada"), byAda, onBehalf},
		{"herself, where people decide", EyesOfPeople, person("ada"), byAda, onBehalf},
		{"her token", EyesOfPrincipals, adas, byAda, onBehalf},
		{"a token that she made", EyesOfPrincipals, made, byAda, onBehalf},
		{"somebody else", EyesOfPrincipals, person("bob"), byAda, ""},
		{"somebody else, where people decide", EyesOfPeople, person("bob"), byAda, ""},
		{"who wrote the identity", EyesOfPrincipals, person("mara"), byAda, ""},
		{"who wrote the identity, where people decide", EyesOfPeople, person("mara"), byAda, "self_approval: you made the token that asked for this run, so someone else must decide"},
		{"one person alone", EyesOfAnybody, person("ada"), byAda, ""},
		{"anybody for a stranger", EyesOfPrincipals, person("bob"), stranger, ""},
		{"for a stranger one who never signed in there", EyesOfPeople, person("bob"), stranger, unknown},
		{"one who signed in elsewhere", EyesOfPeople, person("bob", issuer+"/"), stranger, unknown},
		{"one who signed in there", EyesOfPeople, person("bob", "https://other.example", issuer), stranger, ""},
	} {
		err := test.eyes.MayJudge(test.judge, test.asked)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if !SharedMaker(byAda, Requester{ID: "token:x", Makers: []string{"user:ada@EXAMPLE.com"}}) {
		t.Error("she and a token that she made have no maker in common")
	}
}
