package project

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

const (
	keyA = "ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
	keyB = "ed25519:3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
)

func settled(change func(*countersign.ProjectWrite)) countersign.ProjectWrite {
	w := countersign.ProjectWrite{
		Name: "Shop", Adapter: countersign.AdapterLocalEcho, Auth: countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: "SECRET"}),
		AnswerKeys: []string{keyA}, Settlement: &countersign.Settlement{Path: "/settlement"},
		Capabilities: []countersign.Capability{{Name: "pay", Method: "POST", Path: "/pay"}},
	}
	change(&w)
	return w
}

func TestWhatASettlementRestsOnIsAskedFor(t *testing.T) {
	path := func(p string) func(*countersign.ProjectWrite) {
		return func(w *countersign.ProjectWrite) { w.Capabilities[0].Path = p }
	}
	const below = "capabilities[0].path: it lies at or below settlement.path, where a call would ask about keys, or withdraw them"
	for name, test := range map[string]struct {
		change func(*countersign.ProjectWrite)
		want   string
	}{
		"no key":        {func(w *countersign.ProjectWrite) { w.AnswerKeys = nil }, "settlement: it needs answerKeys: what the receiver says is known to be its own by its signature"},
		"no HMAC":       {func(w *countersign.ProjectWrite) { w.Auth.One.Type = countersign.AuthBearer }, "settlement: it needs HMAC: only a signed question may withdraw a key"},
		"a slash":       {func(w *countersign.ProjectWrite) { w.Settlement.Path = "/settlement/" }, "settlement.path: it takes no placeholder, query or slash at its end"},
		"three keys":    {func(w *countersign.ProjectWrite) { w.AnswerKeys = []string{keyA, keyB, keyA} }, "answerKeys: there may be 2, while a key changes; these are 3"},
		"twice":         {func(w *countersign.ProjectWrite) { w.AnswerKeys = []string{keyA, keyA} }, "answerKeys[1]: it stands there already"},
		"no key's form": {func(w *countersign.ProjectWrite) { w.AnswerKeys[0] = strings.ToUpper(keyA) }, "answerKeys[0]: it must be ed25519: and 64 lowercase hex digits, an Ed25519 public key"},
		"anybody's key": {func(w *countersign.ProjectWrite) { w.AnswerKeys[0] = "ed25519:01" + strings.Repeat("00", 31) }, "answerKeys[0]: anybody can sign for this Ed25519 key: its order is small"},
		"at it":         {path("/settlement"), below},
		"below it":      {path("/settlement/x/withdraw"), below},
		"by a placeholder": {func(w *countersign.ProjectWrite) {
			w.Capabilities[0].Path = "/{where}/x"
			w.Capabilities[0].InputSchema = map[string]countersign.InputField{"where": {Type: "string", Required: true}}
		}, below},
	} {
		_, err := Validate(cost.New(nil, cost.InTurn, 0), "acme", settled(test.change), Allowed{SecretBytes: func(string) int { return 0 }})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, fine := range []string{"/pay", "/settlements", "/a/settlement", "/settlement-2/x"} {
		if reaches(fine, "/settlement") {
			t.Errorf("%s is below", fine)
		}
	}
	if !reaches("/%73ettlement/x", "/settlement") {
		t.Error("an escape hides a path")
	}
	p := &countersign.Project{Settlement: &countersign.Settlement{Path: "/settlement"}}
	if err := CheckAnswerKeysOf(p, nil); err == nil || err.Error() != "invalid_request: answerKeys: the project's settlement rests on them: it needs one at least" {
		t.Error(err)
	}
	if err := CheckAnswerKeysOf(p, []string{keyB}); err != nil {
		t.Error(err)
	}
}

func TestChangedAnswerKeysAndSettlementsWeaken(t *testing.T) {
	propose, automatic, elsewhere := &countersign.Settlement{Path: "/s"}, &countersign.Settlement{Path: "/s", Mode: countersign.SettleAutomatic}, &countersign.Settlement{Path: "/t", Mode: countersign.SettlePropose}
	for _, test := range []struct {
		was, now *countersign.Settlement
		weakens  bool
	}{{nil, nil, false}, {nil, propose, false}, {nil, automatic, true}, {propose, propose, false}, {propose, automatic, true}, {automatic, propose, true}, {propose, elsewhere, true}, {propose, nil, true}} {
		if got := weakerSettlement(test.was, test.now); got != test.weakens {
			t.Errorf("%+v to %+v: %v", test.was, test.now, got)
		}
	}
	for _, test := range []struct {
		was, now []string
		weakens  bool
	}{{nil, []string{keyA}, false}, {[]string{keyA}, []string{keyA}, false}, {[]string{keyA}, []string{keyA, keyB}, true}, {[]string{keyA}, nil, true}} {
		if got := WeakerKeys(test.was, test.now); got != test.weakens {
			t.Errorf("%v to %v: %v", test.was, test.now, got)
		}
	}
}
