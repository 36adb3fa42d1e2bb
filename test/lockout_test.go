package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/mailtest"
	"github.com/countersign/countersign/test/harness"
)

// page is a page of the manual, whose commands an operator copies.
type page struct {
	t    *testing.T
	text string
	bin  string
	env  map[string]string
}

func openPage(t *testing.T, name string) *page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../docs/how-to", name))
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, text: string(text), bin: t.TempDir(), env: map[string]string{}}
	if err := os.Symlink(harness.Binary(t), filepath.Join(p.bin, "countersign")); err != nil {
		t.Fatal(err)
	}
	return p
}

// follow plays the commands of a section, which do their work, and returns what they print.
func (p *page) follow(section string) string {
	p.t.Helper()
	status, out := p.play(section)
	if status != 0 {
		p.t.Fatalf("%s: exit status %d\n%s", section, status, out)
	}
	return out
}

// play plays the commands of a section to the letter.
func (p *page) play(section string) (status int, out string) {
	p.t.Helper()
	_, after, found := strings.Cut(p.text, "\n## "+section+"\n")
	_, block, isBlock := strings.Cut(after, "```sh\n")
	block, _, ended := strings.Cut(block, "```")
	if !found || !isBlock || !ended {
		p.t.Fatalf("the page has no commands in %q", section)
	}
	cmd := exec.Command("bash", "-e", "-c", block)
	cmd.Env = []string{"PATH=" + p.bin + ":" + os.Getenv("PATH"), "HOME=" + p.bin}
	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	said, _ := cmd.CombinedOutput() // its status is looked at
	return cmd.ProcessState.ExitCode(), string(said)
}

// TestTheWayOutOfALockOutIsThePages: one administrator is left and the second gone. The commands of the page, to the
// letter, set weakening and take it away; all administrators are mailed once, and the log says who did what.
func TestTheWayOutOfALockOutIsThePages(t *testing.T) {
	t.Parallel()
	office := mailtest.Open(t, false)
	w := newAdministrators(t)
	p := openPage(t, "weaken-by-several.md")
	p.env["COUNTERSIGN_URL"] = w.ForCommands()
	own := w.As("").Post("/tokens", doc{"name": "mine", "roles": []string{"ADMIN"}, "userEmail": "mara@example.com"}, w.mara...).OK(t)
	w.Keep(own.At("token").Text())
	p.env["COUNTERSIGN_TOKEN"] = own.At("token").Text()
	p.follow("Set it up")
	w.Admin.Get("/settings").OK(t).Is(t, "weakening.approvals", 1)

	w.As("").Do("DELETE", "/users/noor@example.com", nil, w.mara...).Refused(t, "state_conflict", "it would leave ")
	w.As("").Put("/users/noor@example.com", doc{"roles": []string{"VIEWER"}}, w.mara...).Refused(t, "state_conflict", "it would leave ")
	change := w.changeOf(t, "an end of weakening", w.As("").Put("/settings", doc{"decisionAssertion": "NONE", "reason": "alone", "expectedRevision": 1}, w.mara...))
	w.As("").Post(change+"/decision", approved, w.mara...).Refused(t, "self_approval")
	w.As(own.At("token").Text()).Post(change+"/decision", approved).Refused(t, "self_approval")

	delete(p.env, "COUNTERSIGN_URL")
	delete(p.env, "COUNTERSIGN_TOKEN")
	p.env["SVC_PLATFORM_STORE"] = w.Settings()["SVC_PLATFORM_STORE"]
	if status, out := p.play(lockedOut); status == 0 {
		t.Errorf("beside the service that runs: %s", out)
	}
	w.Admin.Get("/settings").OK(t).Is(t, "weakening.approvals", 1)
	w.Stop()
	if out := p.follow(lockedOut); !strings.Contains(out, "tenant default makes changes that weaken at once from now on") {
		t.Errorf("%s", out)
	}
	w.Restart(harness.Set("SMTP_URL", "smtp://"+office.Address()+"?from=countersign@example.com"))
	for _, email := range []string{"mara@example.com", "noor@example.com"} {
		harness.Until(t, "the mail to "+email, func() bool { return slices.ContainsFunc(office.Received(), toldOfGlass(email)) })
	}
	settings := w.Admin.Get("/settings").OK(t).Is(t, "weakening", harness.Absent).Is(t, "decisionAssertion", "NONE")
	settings.Is(t, "breakGlass.reason", "Noor has left, and Mara is alone")
	w.Admin.Get("/audit?action=settings.write").OK(t).Is(t, "items.0.actor", "system").Is(t, "items.0.weakens", true).Is(t, "items.0.reason", "break-glass: Noor has left, and Mara is alone")
	w.As("").Do("DELETE", "/users/noor@example.com", nil, w.mara...).OK(t)
	w.As("").Put("/users/otto@example.com", doc{"roles": []string{"ADMIN"}}, w.mara...).OK(t) // alone, and at once
	w.Stop()
	w.Restart()
	p.env["COUNTERSIGN_URL"], p.env["COUNTERSIGN_TOKEN"] = w.ForCommands(), own.At("token").Text()
	p.follow("Set it up")
	again := w.As("").Put("/users/pia@example.com", doc{"roles": []string{"ADMIN"}}, w.mara...)
	again.Refused(t, "change_proposed", "which otto@example.com must approve")
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	w.Stop() // what it has to send is sent
	if n := len(office.Received()); n != 2 {
		t.Errorf("%d mails: %q", n, office.Received())
	}
}

const lockedOut = "When nobody can decide any more"

// toldOfGlass finds the mail that tells somebody that weakening was taken away, by whom and why.
func toldOfGlass(email string) func(string) bool {
	return func(mail string) bool {
		return strings.Contains(mail, "To: <"+email+">") && strings.Contains(mail, "Subject: Countersign: weakening was taken away from default") &&
			strings.Contains(mail, "Noor has left, and Mara is alone") && strings.Contains(mail, "by countersign settings break-glass on the stopped store")
	}
}
