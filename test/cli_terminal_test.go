package test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAPersonAtATerminalSeesTheRequestAndTypesYes before anything is decided.
func TestAPersonAtATerminalSeesTheRequestAndTypesYes(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := s.run(t, refunding()["steps"].([]any)[0].(doc))
	id := s.approval(t, run).At("id").Text()
	decide := []string{"approvals", "decide", id, "--approve", "--reason", "seen", "--profile", "approver"}
	for typed, status := range map[string]int{"y\n": 1, "\n": 1, "no\n": 1, "\x04": 1, "\x03": 130} { // 4 and 3: end of input, interrupt
		r := harness.OnTerminal(t, s.settings, 80, []harness.Turn{{Seen: "Approve? Type yes: ", Type: typed}}, decide...)
		if said := strings.Contains(r.Out, "countersign: not confirmed; nothing was done"); r.Status != status || said != (status == 1) {
			t.Errorf("typed %q: exit status %d, expected %d\n%s", typed, r.Status, status, r.Out)
		}
		s.reaches(t, run, "WAITING_APPROVAL")
	}
	r := harness.OnTerminal(t, s.settings, 80, []harness.Turn{{Seen: "Approve? Type yes: ", Type: "yes\n"}}, decide...)
	prints(t, r.Out, "POST "+s.shop.Origin()+"/refunds", `{"amount":10,"orderId":"A-1"}`, "digest", "APPROVED")
	s.reaches(t, run, "COMPLETED")

	run = s.uncertain(t).At("id").Text()
	reconcile := []string{"runs", "reconcile", run, "--abandon", "--evidence", "nobody knows", "--profile", "approver"}
	for _, typed := range []string{"yes\n", "\n"} {
		if r := harness.OnTerminal(t, s.settings, 80, []harness.Turn{{Seen: "Type abandon: ", Type: typed}}, reconcile...); r.Status != 1 {
			t.Errorf("typed %q: %+v", typed, r)
		}
		s.reaches(t, run, "RECOVERY_REQUIRED")
	}
	r = harness.OnTerminal(t, s.settings, 80, []harness.Turn{{Seen: "Type abandon: ", Type: "abandon\n"}}, reconcile...)
	prints(t, r.Out, "POST "+s.shop.Origin()+"/notes", "outcome_unknown", "CANCELLED")
}

// TestATokenIsTypedUnseen: an interrupt there ends the command.
func TestATokenIsTypedUnseen(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	_, made := s.token(t, doc{"roles": []string{"VIEWER"}})
	token := made.At("token").Text()
	login := []string{"login", s.address, "--profile", "typed"}
	if r := harness.OnTerminal(t, s.settings, 80, []harness.Turn{{Seen: "Token: ", Type: "\x03"}}, login...); r.Status != 130 {
		t.Errorf("%+v", r)
	}
	r := harness.OnTerminal(t, s.settings, 80, []harness.Turn{{Seen: "Token: ", Type: token + "\n"}}, login...)
	if r.Status != 0 || strings.Contains(r.Out, token) {
		t.Errorf("%+v", r)
	}
}

// TestATableEndsAtTheTerminalsEdge; piped output is not cut.
func TestATableEndsAtTheTerminalsEdge(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	long := strings.Repeat("long ", 60)
	s.operator.Put("/models/long", doc{"document": harness.With(harness.Model("long"), "name", long)}).OK(t)
	r := harness.OnTerminal(t, s.settings, 60, nil, "models", "list")
	for line := range strings.Lines(r.Out) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 60 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	prints(t, r.Out, "…", "refund")
	prints(t, s.command(t, 0, "models", "list").Out, strings.TrimSpace(long))
}

// TestBashCompletesCommandsFlagsAndValues with the printed script.
func TestBashCompletesCommandsFlagsAndValues(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed, as by the Makefile") // its SHELL
	}
	script := harness.Run(t, nil, "completion", "bash").Out
	for line, want := range map[string]string{
		"countersign ru":                         "runs",
		"countersign runs ":                      "list start again watch show rehearsal cancel probe settle reconcile hold redact --help",
		"countersign runs st":                    "start",
		"countersign runs start --ke":            "--key",
		"countersign runs start plan-1 --wa":     "--watch --wait",
		"countersign runs list --status WAI":     "WAITING_APPROVAL",
		"countersign runs list -o j":             "json",
		"countersign approvals decide apr-1 --r": "--reject --reason",
		"countersign completion ":                "bash zsh fish",
		"countersign token i":                    "issue",
	} {
		words := strings.Split(line, " ")
		ask := script + "\nCOMP_WORDS=(" + quoted(words) + ")\nCOMP_CWORD=" + strconv.Itoa(len(words)-1) + "\n_countersign\necho \"${COMPREPLY[@]}\""
		out, err := exec.Command(bash, "--norc", "--noprofile", "-c", ask).CombinedOutput()
		got := strings.TrimSpace(string(out))
		if err != nil || got != want && !strings.HasPrefix(got, want+" ") {
			t.Errorf("%q completes to %q, expected %q: %v", line, got, want, err)
		}
	}
	for _, shell := range []string{"zsh", "fish"} {
		if r := harness.Run(t, nil, "completion", shell); r.Status != 0 || !strings.Contains(r.Out, "reconcile") {
			t.Errorf("%s: %+v", shell, r)
		}
	}
}

func quoted(words []string) string {
	out := ""
	for _, w := range words {
		out += "'" + w + "' "
	}
	return out
}
