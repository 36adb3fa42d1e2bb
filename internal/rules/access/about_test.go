package access

import "testing"

// TestEachWriteSaysWhatItIsAbout fails for a write whose refusal would name nothing.
func TestEachWriteSaysWhatItIsAbout(t *testing.T) {
	for op := range rules {
		if IsWrite(op) && about[op] == "" {
			t.Errorf("say in about.go what %s is about", op)
		}
	}
	for op := range ownMatters {
		if about[op] == "" {
			t.Errorf("say in about.go what %s is about", op)
		}
	}
}

func TestASubjectIsWhatTheRequestNames(t *testing.T) {
	p := Principal{Tenant: "acme", Email: "ada@example.com"}
	members := map[string]string{"id": "one", "email": "Ben@Example.com", "name": "SHOP_SECRET"}
	named := func(name string) string { return members[name] }
	for op, want := range map[Operation]string{
		WriteModel: "model/one", WriteUser: "user/ben@example.com", FreeCredential: "credential/SHOP_SECRET", WriteSettings: "tenant/acme",
		AddPasskey: "user/ada@example.com", CreateToken: "token", ReadRuns: "",
	} {
		if got := Subject(p, op, named); got != want {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
	members["id"], members["email"] = "no id", "\xff"
	if got := Subject(p, WriteModel, named) + " " + Subject(p, WriteUser, named); got != "model user" {
		t.Errorf("what is no id: %q", got)
	}
}
