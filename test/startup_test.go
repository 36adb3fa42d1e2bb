package test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// settings are the settings of a server that can start.
func settings(t *testing.T, more ...string) map[string]string {
	t.Helper()
	s := map[string]string{"SVC_PLATFORM_LISTEN": "127.0.0.1:0", "SVC_PLATFORM_STORE": filepath.Join(t.TempDir(), "store")}
	for i := 0; i < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	return s
}

func TestUnusableSettingsStopTheStartWithOneLineEach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env   []string
		lines []string
	}{
		"an unknown name":   {[]string{"SVC_PLATFORM_LISTN", "x"}, []string{"SVC_PLATFORM_LISTN"}},
		"two unknown names": {[]string{"SVC_PLATFORM_AAA", "x", "SVC_PLATFORM_BBB", ""}, []string{"SVC_PLATFORM_AAA", "SVC_PLATFORM_BBB"}},
		"listen":            {[]string{"SVC_PLATFORM_LISTEN", "nowhere"}, []string{"SVC_PLATFORM_LISTEN"}},
		"listen port":       {[]string{"SVC_PLATFORM_LISTEN", "127.0.0.1:99999"}, []string{"SVC_PLATFORM_LISTEN"}},
		"limit of none":     {[]string{"SVC_PLATFORM_MAX_ACTIVE_RUNS", "0"}, []string{"SVC_PLATFORM_MAX_ACTIVE_RUNS"}},
		"limit in words":    {[]string{"SVC_PLATFORM_MAX_ACTIVE_RUNS", "four"}, []string{"SVC_PLATFORM_MAX_ACTIVE_RUNS"}},
		"bounds": {
			[]string{"SVC_PLATFORM_MAX_ACTIVE_RUNS_PER_TENANT", "0", "SVC_PLATFORM_MAX_INSTANCES_PER_AGENT", "-1", "SVC_PLATFORM_MAX_PENDING_APPROVALS_PER_TENANT", "many", "SVC_PLATFORM_MAX_WEBHOOKS_PER_TENANT", "1.5", "SVC_PLATFORM_MAX_MODEL_BYTES_PER_TENANT", "1GiB", "SVC_PLATFORM_MAX_PROBES_PER_RUN", "0"},
			[]string{"SVC_PLATFORM_MAX_ACTIVE_RUNS_PER_TENANT", "SVC_PLATFORM_MAX_INSTANCES_PER_AGENT", "SVC_PLATFORM_MAX_PENDING_APPROVALS_PER_TENANT", "SVC_PLATFORM_MAX_WEBHOOKS_PER_TENANT", "SVC_PLATFORM_MAX_MODEL_BYTES_PER_TENANT", "SVC_PLATFORM_MAX_PROBES_PER_RUN"},
		},
		"time to live":             {[]string{"SVC_PLATFORM_APPROVAL_TTL", "24"}, []string{"SVC_PLATFORM_APPROVAL_TTL"}},
		"negative time to live":    {[]string{"SVC_PLATFORM_APPROVAL_TTL", "-1h"}, []string{"SVC_PLATFORM_APPROVAL_TTL"}},
		"self-approval":            {[]string{"SVC_PLATFORM_ALLOW_SELF_APPROVAL", "maybe"}, []string{"SVC_PLATFORM_ALLOW_SELF_APPROVAL"}},
		"origin with a path":       {[]string{"SVC_PLATFORM_CONNECTION_ORIGINS", "https://a.example/x"}, []string{"SVC_PLATFORM_CONNECTION_ORIGINS"}},
		"origin without scheme":    {[]string{"SVC_PLATFORM_CONNECTION_ORIGINS", "a.example"}, []string{"SVC_PLATFORM_CONNECTION_ORIGINS"}},
		"names of variables":       {[]string{"SVC_PLATFORM_SIGNING_ENV_ALLOWLIST", "A-B"}, []string{"SVC_PLATFORM_SIGNING_ENV_ALLOWLIST"}},
		"short bootstrap token":    {[]string{"SVC_PLATFORM_BOOTSTRAP_TOKEN", strings.Repeat("x", 31)}, []string{"SVC_PLATFORM_BOOTSTRAP_TOKEN"}},
		"blank in the bootstrap":   {[]string{"SVC_PLATFORM_BOOTSTRAP_TOKEN", strings.Repeat("x ", 20)}, []string{"SVC_PLATFORM_BOOTSTRAP_TOKEN"}},
		"a mistyped token":         {[]string{"SVC_PLATFORM_BOOTSTRAP_TOKEN", "csn_" + strings.Repeat("0", 49)}, []string{"SVC_PLATFORM_BOOTSTRAP_TOKEN"}},
		"grace":                    {[]string{"SVC_PLATFORM_STOP_GRACE", "soon"}, []string{"SVC_PLATFORM_STOP_GRACE"}},
		"retention":                {[]string{"SVC_PLATFORM_RETENTION", "a year"}, []string{"SVC_PLATFORM_RETENTION"}},
		"retention without files":  {[]string{"SVC_PLATFORM_STORE", "postgres://localhost/x", "SVC_PLATFORM_RETENTION", "90d"}, []string{"SVC_PLATFORM_RETENTION"}},
		"log":                      {[]string{"SVC_PLATFORM_LOG", "xml"}, []string{"SVC_PLATFORM_LOG"}},
		"public URL":               {[]string{"SVC_PLATFORM_PUBLIC_URL", "example"}, []string{"SVC_PLATFORM_PUBLIC_URL"}},
		"certificate alone":        {[]string{"SVC_PLATFORM_TLS_CERT_FILE", "c.pem"}, []string{"SVC_PLATFORM_TLS_CERT_FILE"}},
		"certificate not there":    {[]string{"SVC_PLATFORM_TLS_CERT_FILE", "/nowhere/c.pem", "SVC_PLATFORM_TLS_KEY_FILE", "/nowhere/k.pem"}, []string{"SVC_PLATFORM_TLS_CERT_FILE"}},
		"certificate that is none": {[]string{"SVC_PLATFORM_TLS_CERT_FILE", "startup_test.go", "SVC_PLATFORM_TLS_KEY_FILE", "startup_test.go"}, []string{"SVC_PLATFORM_TLS_CERT_FILE"}},
		"a secret set twice":       {[]string{"SVC_PLATFORM_SIGNING_ENV_ALLOWLIST", "A_KEY", "A_KEY", "x", "A_KEY_FILE", "y"}, []string{"A_KEY"}},
		"a path of no setting":     {[]string{"SVC_PLATFORM_LOG_FILE", "x"}, []string{"SVC_PLATFORM_LOG_FILE"}},
		"a file that is none":      {[]string{"SVC_PLATFORM_SMTP_URL_FILE", "/nowhere/url"}, []string{"SVC_PLATFORM_SMTP_URL_FILE"}},
		"a setting set twice":      {[]string{"SVC_PLATFORM_SMTP_URL", "smtp://a", "SVC_PLATFORM_SMTP_URL_FILE", "/nowhere/url"}, []string{"SVC_PLATFORM_SMTP_URL", "SVC_PLATFORM_SMTP_URL_FILE"}},
		"several":                  {[]string{"SVC_PLATFORM_LOG", "xml", "SVC_PLATFORM_MAX_ACTIVE_RUNS", "-1", "SVC_PLATFORM_ZZZ", "1"}, []string{"SVC_PLATFORM_MAX_ACTIVE_RUNS", "SVC_PLATFORM_LOG", "SVC_PLATFORM_ZZZ"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t, c.env...)
			r := harness.Run(t, s, "serve")
			if r.Status != 2 || len(r.Lines()) != len(c.lines) {
				t.Errorf("status %d, %d lines:\n%s", r.Status, len(r.Lines()), r.Err)
			}
			for _, line := range c.lines {
				if strings.Count(r.Err, line+":") != 1 {
					t.Errorf("%s is not named once:\n%s", line, r.Err)
				}
			}
			if _, err := os.Stat(s["SVC_PLATFORM_STORE"]); !os.IsNotExist(err) {
				t.Errorf("a store was made: %v", err)
			}
		})
	}
}

func TestAFirstStartThatCannotListenLeavesTheTokenToTheNext(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	s := harness.Prepare(t, func(settings map[string]string) { delete(settings, "SVC_PLATFORM_BOOTSTRAP_TOKEN") })
	in := s.Settings()
	in["SVC_PLATFORM_LISTEN"] = taken.Addr().String()
	if r := harness.Run(t, in, "serve"); r.Status != 1 || !strings.Contains(r.Err, taken.Addr().String()) || strings.Contains(r.Err, "csn_") {
		t.Fatalf("status %d\n%s", r.Status, r.Err)
	}
	s.Restart()
	log := s.Log()
	s.Admin = s.As(printed.FindString(log))
	if !setupLink.MatchString(log) {
		t.Errorf("the next start shows no set-up link:\n%s", log)
	}
	s.Admin.Get("/tokens").OK(t)
}

func TestAVariableOnTheListsMayHaveAnyName(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Set("CREDENTIAL_ENV_ALLOWLIST", "SVC_PLATFORM_SHOP_KEY"), harness.Set("SHOP_KEY", "a-secret-of-the-shop"), harness.Set("CONNECTION_ORIGINS", "https://a.example"))
	s.Keep("a-secret-of-the-shop")
	s.Admin.Put("/projects/default-a", harness.With(bare("https://a.example"), "auth", doc{"type": "BEARER", "credentialEnv": "SVC_PLATFORM_SHOP_KEY"})).OK(t).Is(t, "secretConfigured", true)
}

func TestUnknownFlagsAndCommandsExitWith2(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve", "--lisen=x"}, {"srve"}, {}, {"token", "issue"}, {"token", "issue", "--tenant", "default", "--role", "ROOT"}} {
		if r := harness.Run(t, settings(t), args...); r.Status != 2 || r.Err == "" {
			t.Errorf("%v: status %d\n%s", args, r.Status, r.Err)
		}
	}
	if r := harness.Run(t, settings(t), "serve", "--log=xml"); r.Status != 2 || len(r.Lines()) != 1 {
		t.Errorf("a flag is a setting too: %d\n%s", r.Status, r.Err)
	}
	in := settings(t, "SVC_PLATFORM_LOG", "xml")
	if r := harness.Run(t, in, "serve", "--log=json", "--max-active-runs=0"); r.Status != 2 || len(r.Lines()) != 1 || !strings.Contains(r.Err, "MAX_ACTIVE_RUNS") {
		t.Errorf("the flag wins: %d\n%s", r.Status, r.Err)
	}
	if r := harness.Run(t, settings(t), "--help"); r.Status != 0 {
		t.Errorf("--help: %d\n%s", r.Status, r.Err)
	}
}

func TestASecondProcessOnAStoreExitsAndHarmsNothing(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.Store, link); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{w.Store, link} { // its real path is locked
		r := harness.Run(t, settings(t, "SVC_PLATFORM_STORE", store), "serve")
		if r.Status == 0 || len(r.Lines()) != 1 || !strings.Contains(r.Err, store) && !strings.Contains(r.Err, w.Store) {
			t.Errorf("status %d\n%s", r.Status, r.Err)
		}
	}
	if r := harness.Run(t, settings(t, "SVC_PLATFORM_STORE", w.Store), "token", "issue", "--tenant", "default", "--role", "ADMIN"); r.Status == 0 || r.Out != "" {
		t.Errorf("a token was issued on a store in use: %d %s", r.Status, r.Out)
	}
	w.reaches(t, w.run(t, step("n", "note", nil)), "COMPLETED")
}

func TestAPortInUseIsSaidInOneLine(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	r := harness.Run(t, settings(t, "SVC_PLATFORM_LISTEN", strings.TrimPrefix(s.URL, "http://")), "serve")
	if r.Status != 1 || len(r.Lines()) != 1 {
		t.Errorf("status %d\n%s", r.Status, r.Err)
	}
}

var printed = regexp.MustCompile(`csn_[0-9A-Za-z]{49}`)

func TestTheBootstrapTokenIsPrintedOnceOnAnEmptyStore(t *testing.T) {
	t.Parallel()
	s := harness.StartPrinting(t)
	found := printed.FindAllString(s.Log(), -1)
	if len(found) != 1 {
		t.Fatalf("%d tokens were printed:\n%s", len(found), s.Log())
	}
	s.Admin = s.As(found[0])
	s.Admin.Get("/tenants").OK(t).Is(t, "items.0.id", "default") // a realm administrator
	s.Admin.Get("/tokens").OK(t).Is(t, "total", 1).Is(t, "items.0.roles", []string{"ADMIN"}).Is(t, "items.0.createdBy", "system")
	s.Stop()
	s.Restart()
	if again := printed.FindString(s.Log()); again != "" {
		t.Error("a token was printed again")
	}
	s.Admin.Get("/tenants").OK(t)
	s.Stop()
	s.Restart(harness.Set("BOOTSTRAP_TOKEN", strings.Repeat("later", 10))) // ignored later
	s.As(strings.Repeat("later", 10)).Get("/models").Refused(t, "unauthenticated")
}

func TestAGivenBootstrapTokenIsNotPrinted(t *testing.T) {
	t.Parallel()
	s := harness.Start(t) // looks for the token in its log
	if token := printed.FindString(s.Log()); token != "" {
		t.Errorf("%s was printed", token)
	}
	s.As(s.Settings()["SVC_PLATFORM_BOOTSTRAP_TOKEN"]).Get("/tenants").OK(t)
}

func TestATokenIsIssuedOnAStoppedStoreAndAudited(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	s.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	s.Stop()
	issue := func(tenant, role string) harness.Result {
		return harness.Run(t, settings(t, "SVC_PLATFORM_STORE", s.Settings()["SVC_PLATFORM_STORE"]), "token", "issue", "--tenant", tenant, "--role", role)
	}
	for _, c := range [][2]string{{"default", "ADMIN"}, {"acme", "VIEWER"}} {
		r := issue(c[0], c[1])
		token := strings.TrimSuffix(r.Out, "\n")
		if r.Status != 0 || !tokenForm.MatchString(token) || strings.Contains(r.Err, token) {
			t.Fatalf("status %d: %q %q", r.Status, r.Out, r.Err)
		}
		s.Keep(token)
		s.Restart()
		if c[0] == "default" {
			s.As(token).Get("/tenants").OK(t) // a realm administrator again
			s.As(token).Get("/audit?action=tokens.create").OK(t).Is(t, "items.0.actor", "system")
		} else {
			s.As(token).Get("/models").OK(t)
			s.As(token).Get("/tokens").Refused(t, "role_required")
		}
		s.Stop()
	}
	if r := issue("nowhere", "ADMIN"); r.Status == 0 || r.Out != "" || !strings.Contains(r.Err, "nowhere") {
		t.Errorf("status %d: %q %q", r.Status, r.Out, r.Err)
	}
}

func TestAStoreThatIsNoneIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{file, filepath.Join(file, "below")} {
		if r := harness.Run(t, settings(t, "SVC_PLATFORM_STORE", store), "serve"); r.Status == 0 || len(r.Lines()) != 1 {
			t.Errorf("status %d\n%s", r.Status, r.Err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestListeningBeyondThisMachineWithoutTLSWarns(t *testing.T) {
	t.Parallel()
	open := harness.Start(t, harness.Set("LISTEN", "0.0.0.0:0"))
	if !strings.Contains(open.Log(), "WARNING") {
		t.Errorf("there is no warning:\n%s", open.Log())
	}
	behind := harness.Start(t, harness.Set("LISTEN", "0.0.0.0:0"), harness.Set("PUBLIC_URL", "https://runtime.example.com/"))
	if strings.Contains(behind.Log(), "WARNING") {
		t.Errorf("there is a warning:\n%s", behind.Log())
	}
	behind.As("").Get("/openapi.json").OK(t).Is(t, "servers.0.url", "https://runtime.example.com/v1")
	if home := harness.Start(t); strings.Contains(home.Log(), "WARNING") {
		t.Errorf("there is a warning:\n%s", home.Log())
	}
}

// TestABootstrapTokenThatTheStoreDoesNotKnowIsCalledIgnored: whoever starts the service on an earlier store
// with another token learns at the start that the token won't sign them in.
func TestABootstrapTokenThatTheStoreDoesNotKnowIsCalledIgnored(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	again := func(settings ...harness.Setting) {
		s.Terminate()
		s.Wait()
		s.Restart(settings...)
	}
	again()
	if strings.Contains(s.Log(), "is ignored") {
		t.Errorf("its own token is called ignored:\n%s", s.Log())
	}
	again(harness.Set("BOOTSTRAP_TOKEN", "another-token-of-the-operator-0123456789"))
	if !strings.Contains(s.Log(), "warning: SVC_PLATFORM_BOOTSTRAP_TOKEN is ignored") {
		t.Errorf("another token is taken without a word:\n%s", s.Log())
	}
}

// TestARevokedBootstrapTokenInTheSettingsIsWarnedOfOnceAStart, with what to do; a valid one isn't.
func TestARevokedBootstrapTokenInTheSettingsIsWarnedOfOnceAStart(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	first := s.Admin.Get("/tokens").OK(t).At("items.0.id").Text()
	warned := func(want bool) {
		t.Helper()
		s.Restart()
		n := strings.Count(s.Log(), "warning: the token in SVC_PLATFORM_BOOTSTRAP_TOKEN is revoked, so nobody can sign in with it. Remove the setting\n")
		if starts := strings.Count(s.Log(), "listening on "); want && n != starts || !want && n != 0 || strings.Contains(s.Log(), "is ignored") {
			t.Errorf("%d warnings in %d starts:\n%s", n, starts, s.Log())
		}
	}
	s.Stop()
	issued := harness.Run(t, settings(t, "SVC_PLATFORM_STORE", s.Settings()["SVC_PLATFORM_STORE"]), "token", "issue", "--tenant", "default", "--role", "ADMIN")
	warned(false)
	s.Admin = s.As(strings.TrimSpace(issued.Out))
	s.Keep(s.Admin.Token())
	s.Admin.Delete("/tokens/" + first).OK(t)
	s.Stop()
	warned(true)
}
