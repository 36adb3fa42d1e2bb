package test

import (
	encoding "encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// setup is a shell with a profile that may apply, and a folder of files.
type setup struct {
	*shell
	files string
	fully *harness.Client
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	s := &setup{shell: ownShell(t), files: t.TempDir()}
	s.fully = s.principal(t, "ADMIN", "OPERATOR")
	s.signIn(t, "fully", s.fully.Token())
	return s
}

func (s *setup) write(t *testing.T, name string, records ...doc) {
	t.Helper()
	var list any = records
	if len(records) == 1 {
		list = records[0]
	}
	text, err := encoding.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	s.text(t, name, string(text))
}

func (s *setup) text(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.files, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *setup) apply(t *testing.T, status int, flags ...string) harness.Result {
	t.Helper()
	return s.command(t, status, append([]string{"apply", s.files, "--profile", "fully"}, flags...)...)
}

// revision is a record's, 0 where there is none.
func (s *setup) revision(path string) int {
	answer := s.fully.Get(path)
	if answer.Status != 200 {
		return 0
	}
	return answer.At("revision").Int()
}

func (s *setup) named(kind, id string, fields doc) doc {
	return harness.With(harness.With(fields, "kind", kind), "id", id)
}

func (s *setup) agent(more doc) doc {
	a := s.named("agent", ruled+"/clerk", doc{"name": "Clerk", "role": "clerk", "goal": "pay", "capabilities": []string{"pay"}, "admitted": true})
	for name, v := range more {
		a = harness.With(a, name, v)
	}
	return a
}

// TestApplyMakesTheServiceAsTheFilesSay, once, and a second time there is nothing to do.
func TestApplyMakesTheServiceAsTheFilesSay(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	s.write(t, "group.json", s.named("group", "finance", doc{"name": "Finance", "members": []string{"Ann@example.com"}}))
	s.write(t, "project.json", s.named("project", ruled, payRules(s.shop.Origin(), "RISK_BASED", harness.With(rule(is("amount", "lte", number("10")), "ASK"), "groups", []string{"finance"}))))
	s.write(t, "agent.json", s.agent(nil))
	s.text(t, "setting.yaml", "kind: setting\nid: tenant\ndecisionAssertion: NONE\n")
	prints(t, s.apply(t, 1, "--check").Out, "+ group finance: create", "+ project "+ruled, "+ agent "+ruled+"/clerk", "3 of 4 records differ")
	prints(t, s.apply(t, 0, "--dry-run").Out, "3 of 4 records differ")
	s.fully.Get("/groups/finance").Refused(t, "not_found")

	prints(t, s.apply(t, 0).Out, "made 3 of 3")
	s.fully.Get("/groups/finance").OK(t).Is(t, "members", []string{"ann@example.com"})
	s.fully.Get("/projects/"+ruled).OK(t).Is(t, "enabled", true)
	s.fully.Get("/agents?projectId="+ruled).OK(t).Is(t, "items.0.status", "ADMITTED")
	prints(t, s.apply(t, 0).Out, "0 of 4 records differ")
	s.apply(t, 0, "--check")

	if err := os.Remove(filepath.Join(s.files, "group.json")); err != nil {
		t.Fatal(err)
	}
	s.apply(t, 0)
	s.fully.Get("/groups/finance").OK(t)

	// What names the group is changed before the group goes.
	s.write(t, "project.json", s.named("project", ruled, payRules(s.shop.Origin(), "ALWAYS")))
	s.write(t, "gone.json", s.named("group", "finance", doc{"retired": true}), s.named("agent", ruled+"/clerk", doc{"retired": true}))
	if err := os.Remove(filepath.Join(s.files, "agent.json")); err != nil {
		t.Fatal(err)
	}
	prints(t, s.apply(t, 0).Out, "- group finance: delete", "made 3 of 3")
	s.fully.Get("/groups/finance").Refused(t, "not_found")
	s.fully.Get("/agents?projectId="+ruled).OK(t).Is(t, "items", []any{})
	prints(t, s.apply(t, 0).Out, "0 of 4 records differ")
}

// TestAnythingWrongInTheFilesStopsAllOfThem before the service is asked for anything.
func TestAnythingWrongInTheFilesStopsAllOfThem(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	fine := s.named("group", "fine", doc{"name": "Fine", "members": []string{}})
	for _, c := range []struct{ name, text, says string }{
		{"a.json", `{"kind": "group", "id": "g", "name": "G", "members": [], "membres": []}`, "membres"},
		{"a.json", `{"kind": "user", "id": "u"}`, "kind: it must be one of setting, group, model, project, agent, team, webhook"},
		{"a.json", `{"kind": "group", "id": "fine", "name": "G", "members": []}`, "group fine stands in"},
		{"a.json", `{"kind": "group", "id": "g", "name": "G", "retired": true}`, "has kind and id, and nothing else"},
		{"a.json", `{"kind": "group", "id": "g", "name": "G", "retired": 1}`, "retired: it must be true or false"},
		{"a.json", `{"kind": "setting", "id": "other"}`, "the one setting is tenant"},
		{"a.json", `{"kind": "setting", "id": "tenant", "retired": true}`, "a setting stays"},
		{"a.json", `{"kind": "agent", "id": "clerk"}`, "id: an agent's is its project's id, / and its externalAgentId"},
		{"a.json", `{"kind": "group", "id": "a/b"}`, "id: it must have 1 to 128"},
		{"a.json", `{"kind": "agent", "id": "p/c", "externalAgentId": "d"}`, "externalAgentId: it must be that of the id, or left out"},
		{"a.json", `{"kind": "agent", "id": "p/c", "name": "n", "role": "r", "goal": "g", "capabilities": [], "budgets": []}`, "budgets: they are given with the admission"},
		{"a.json", `7`, "a record is an object with kind and id"},
		{"a.json", strings.Repeat(" ", 1<<20+1), "it is larger than 1048576 bytes"},
		{"a.yaml", "kind: group\nid: g\nname: 007\nmembers: []\n", "line 3: 007 is no number as JSON has them"},
		{"a.yaml", "kind: group\nid: g\nname: &a G\nmembers: [*a]\n", "line 4: aliases (*) aren't taken"},
		{"a.yaml", "kind: group\nkind: group\n", `kind`},
		{"a.yaml", "kind: !x group\n", "line 1: tags such as !x aren't taken"},
		{"a.yaml", "? [a]\n: b\n", "line 1: a key must be plain text"},
		{"a.yaml", strings.Repeat("[", 70) + strings.Repeat("]", 70), "nested deeper than 64 levels"},
	} {
		s.write(t, "fine.json", fine)
		s.text(t, c.name, c.text)
		r := s.apply(t, 2)
		prints(t, r.Err, c.name, c.says)
		if err := os.Remove(filepath.Join(s.files, c.name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("fine.json", filepath.Join(s.files, "link.json")); err != nil {
		t.Fatal(err)
	}
	prints(t, s.apply(t, 2).Err, "link.json: it is a link, and links aren't followed")
	prints(t, s.command(t, 2, "apply", t.TempDir(), "--profile", "fully").Err, "there is no record in it")
	s.fully.Get("/groups/fine").Refused(t, "not_found")
}

// TestWhatTheTokenMayNotDoIsNamedFirst, and nothing is changed.
func TestWhatTheTokenMayNotDoIsNamedFirst(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.write(t, "all.json", s.named("group", "finance", doc{"name": "Finance", "members": []string{}}), s.named("project", ruled, payRules(s.shop.Origin(), "ALWAYS")))
	prints(t, s.command(t, 3, "apply", s.files, "--profile", "admin").Err, "has not the role OPERATOR")
	limited, _ := s.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "projectIds": []string{shop}})
	s.signIn(t, "limited", limited.Token())
	prints(t, s.command(t, 3, "apply", s.files, "--profile", "limited").Err, "group finance: it needs all projects", "has not the project "+ruled)
	dry, _ := s.token(t, doc{"roles": []string{"ADMIN", "OPERATOR"}, "modes": []string{"DRY_RUN"}})
	s.signIn(t, "dry", dry.Token())
	prints(t, s.command(t, 3, "apply", s.files, "--profile", "dry").Err, "is limited to DRY_RUN")
	s.fully.Get("/groups/finance").Refused(t, "not_found")
	dry.Get("/session").OK(t).Is(t, "modes", []string{"DRY_RUN"}).Is(t, "roles", []string{"ADMIN", "OPERATOR"}).Is(t, "csrfToken", harness.Absent)
	limited.Get("/session").OK(t).Is(t, "projectIds", []string{shop})
}

// TestWhatCanNotBeMadeIsNamedAndTheRestIsMade.
func TestWhatCanNotBeMadeIsNamedAndTheRestIsMade(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.write(t, "all.json",
		s.named("project", ruled, harness.With(payRules(s.shop.Origin(), "ALWAYS"), "baseUrl", "https://nowhere.example")),
		s.named("project", "default-off", harness.With(payRules(s.shop.Origin(), "ALWAYS"), "enabled", false)),
		s.named("group", "finance", doc{"name": "Finance", "members": []string{"nobody@example.com"}}))
	prints(t, s.apply(t, 1).Out, "made 1 of 3", "not made: project "+ruled+": origin_not_allowed", "not made: group finance: invalid_request")
	s.fully.Get("/projects/default-off").OK(t).Is(t, "enabled", false)
}

// TestAGateIsTightenedBeforeAnotherIsLoosened: and where it can't be, the other stays.
func TestAGateIsTightenedBeforeAnotherIsLoosened(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.register(t, "default-a", payRules(s.shop.Origin(), "ALWAYS"))
	s.register(t, "default-b", payRules(s.shop.Origin(), "NONE"))
	tight := payRules(s.shop.Origin(), "ALWAYS")
	s.write(t, "all.json", s.named("project", "default-a", payRules(s.shop.Origin(), "NONE")), s.named("project", "default-b", harness.With(tight, "baseUrl", "https://nowhere.example")))
	prints(t, s.apply(t, 1).Out, "not made: project default-b: origin_not_allowed", "not made: project default-a: it loosens a gate and is left as it is")
	s.fully.Get("/projects/default-a").OK(t).Is(t, "capabilities.0.approval", "ALWAYS")
	s.write(t, "all.json", s.named("project", "default-a", payRules(s.shop.Origin(), "NONE")), s.named("project", "default-b", tight))
	out := s.apply(t, 0).Out
	if strings.Index(out, "~ project default-b") > strings.Index(out, "~ project default-a") {
		t.Errorf("the gate is loosened first:\n%s", out)
	}
	prints(t, out, "~ project default-a: change, loosens a gate", `approval: "ALWAYS" -> "NONE"`)
}

// TestWhatIsExportedIsAppliedWithoutADifference.
func TestWhatIsExportedIsAppliedWithoutADifference(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.write(t, "all.json",
		s.named("group", "finance", doc{"name": "yes", "members": []string{}, "claim": "groups=007 ⇒ \"x\"\n#"}),
		s.named("project", ruled, payRules(s.shop.Origin(), "RISK_BASED", rule(is("amount", "lte", number("10.50")), "ALLOW"))),
		s.agent(doc{"budgets": []doc{{"count": 3, "window": "1h", "then": "ASK", "reason": "few"}}}))
	s.apply(t, 0)
	dir := filepath.Join(t.TempDir(), "out")
	s.command(t, 0, "export", dir, "--profile", "fully")
	prints(t, s.command(t, 0, "apply", dir, "--check", "--profile", "fully").Out, "0 of ")
	for _, path := range []string{"settings/tenant.yaml", "groups/finance.yaml", "models/refund.yaml", "projects/" + ruled + ".yaml", "agents/" + ruled + "/clerk.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			t.Error(err)
		}
	}
	prints(t, s.command(t, 2, "export", dir, "--profile", "fully").Err, "it isn't empty")
	prints(t, s.command(t, 3, "export", filepath.Join(dir, "new"), "--profile", "viewer").Err, "has not the role ADMIN")
}

// TestFilesAndHandEditsInAnyOrderEndAsTheFilesSay.
func TestFilesAndHandEditsInAnyOrderEndAsTheFilesSay(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	r := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	for round := range 12 {
		records := []doc{
			s.named("project", ruled, harness.With(payRules(s.shop.Origin(), one("ALWAYS", "NONE", "RISK_BASED")), "enabled", r.IntN(3) > 0)),
			s.named("group", "finance", doc{"name": one("A", "B"), "members": []string{}, "claim": "groups=" + one("x", "y")}),
			s.agent(doc{"goal": one("x", "y"), "sourceRevision": r.IntN(4), "budgets": []doc{{"count": 1 + r.IntN(2), "window": "1h", "then": "ASK", "reason": "few"}}}),
		}
		if r.IntN(3) == 0 {
			records[1] = s.named("group", "finance", doc{"retired": true})
		}
		s.write(t, "all.json", records...)
		s.apply(t, 0)
		prints(t, s.apply(t, 0, "--check").Out, "0 of 3 records differ")
		agentID := s.fully.Get("/agents?projectId=" + ruled).OK(t).At("items.0.id").Text()
		switch round % 6 {
		case 4:
			s.fully.Put("/groups/finance", doc{"name": "by hand", "members": []string{}, "expectedRevision": s.revision("/groups/finance")}).OK(t)
		case 5:
			s.fully.Put("/projects/"+ruled, harness.With(payRules(s.shop.Origin(), "NONE"), "expectedRevision", s.revision("/projects/"+ruled))).OK(t)
		case 0:
			s.fully.Post("/agents/"+agentID+"/suspend", doc{"reason": "by hand"}).OK(t)
		case 1:
			s.fully.Post("/projects/"+ruled+"/disable", doc{"expectedRevision": s.revision("/projects/" + ruled), "reason": "by hand"}).OK(t)
		case 2:
			s.fully.Post("/agents/"+agentID+"/retire", doc{"reason": "by hand"}).OK(t)
		default:
			s.fully.Post("/systems/"+ruled+"/agents/sync", doc{"schemaVersion": "1.0", "agents": []doc{{"externalAgentId": "clerk", "sourceRevision": 1000 + round, "name": "Other", "role": "r", "goal": fmt.Sprint(round), "capabilities": []string{"pay"}}}}).OK(t)
		}
	}
}

// TestTheExampleOfFilesIsMade, and then nothing differs.
func TestTheExampleOfFilesIsMade(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	prints(t, s.command(t, 0, "apply", "../examples/setup", "--profile", "fully").Out, "made 3 of 3")
	s.command(t, 0, "apply", "../examples/setup", "--check", "--profile", "fully")
}

// TestTheActionHoldsAServiceToItsSetup plays the script of the GitHub action on the example.
func TestTheActionHoldsAServiceToItsSetup(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	dir := t.TempDir()
	if err := os.Symlink(harness.Binary(t), filepath.Join(dir, "countersign")); err != nil {
		t.Fatal(err)
	}
	play := func(mode string, status int, says ...string) {
		t.Helper()
		summary := filepath.Join(dir, mode+".md")
		cmd := exec.Command("bash", "../deploy/action/setup.sh")
		cmd.Env = []string{
			"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir, "SETUP=../examples/setup", "MODE=" + mode,
			"COUNTERSIGN_URL=" + s.address, "COUNTERSIGN_TOKEN=" + s.fully.Token(), "GITHUB_STEP_SUMMARY=" + summary,
		}
		out, _ := cmd.CombinedOutput() // its status is looked at
		if got := cmd.ProcessState.ExitCode(); got != status || strings.Contains(string(out), s.fully.Token()) {
			t.Errorf("%s: exit status %d, not %d\n%s", mode, got, status, out)
		}
		prints(t, string(out), says...)
		if text, _ := os.ReadFile(summary); status < 2 {
			prints(t, string(text), "    "+says[0])
		}
	}
	play("dry-run", 0, "+ group finance: create", "3 of 3 records differ")
	play("check", 1, "+ group finance: create", "3 of 3 records differ")
	play("apply", 0, "+ group finance: create", "made 3 of 3")
	play("check", 0, "0 of 3 records differ")
	play("all", 2, `mode: "all" must be dry-run, check or apply`)
}
