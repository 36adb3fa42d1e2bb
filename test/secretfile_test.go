package test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestCredentialInAFileRotatesWithoutARestart: each call is signed with the file's present content.
func TestCredentialInAFileRotatesWithoutARestart(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	path := filepath.Join(t.TempDir(), "secret")
	w.Stop()
	w.Restart(harness.Env(harness.SecretEnv, ""), harness.Env(harness.SecretEnv+"_FILE", path))
	configured := func(is bool) {
		t.Helper()
		w.viewer.Get("/projects/"+shop).OK(t).Is(t, "secretConfigured", is)
		w.tenantAdmin.Post("/projects/"+shop+"/health-check", nil).OK(t)
	}
	write := func(secret string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configured(false)
	w.reaches(t, w.run(t, step("n", "note", nil)), "FAILED").Has(t, "error", "not_sent: ", harness.SecretEnv)
	for i, secret := range []string{"canary-of-the-first-file", "canary-of-the-other-file"} {
		w.Keep(secret)
		write(secret + "\n")
		configured(true)
		w.reaches(t, w.run(t, step("n", "note", nil)), "COMPLETED")
		if err := harness.CheckSignature(w.shop.Await(t, "POST", "/notes", i+1), secret); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	configured(false)
	w.reaches(t, w.run(t, step("n", "note", nil)), "FAILED").Has(t, "error", "not_sent: ", harness.SecretEnv)
}

func TestBootstrapTokenIsReadFromItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("a-first-token-of-more-than-32-characters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := harness.Start(t, harness.Set("BOOTSTRAP_TOKEN", ""), harness.Set("BOOTSTRAP_TOKEN_FILE", path))
	s.Admin = s.As("a-first-token-of-more-than-32-characters")
	s.Admin.Get("/tenants").OK(t)
}
