package test

import (
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/testing/mailtest"
	"github.com/countersign/countersign/internal/testing/oidctest"
	"github.com/countersign/countersign/internal/testing/slacktest"
	"github.com/countersign/countersign/test/harness"
)

// cmd/countersign/settings_observed_test.go lists the test that observes each setting.

// certificateFiles are a certificate for 127.0.0.1, its key, and a client that trusts it.
func certificateFiles(t *testing.T) (cert, key string, client *http.Client) {
	t.Helper()
	issued := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(issued.Close)
	pair := issued.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), kind)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("CERTIFICATE", pair.Certificate[0]), write("PRIVATE KEY", secret), issued.Client()
}

// TestTheServiceSpeaksTLSWithItsCertificate, whether variables or flags name the files; the flag wins.
func TestTheServiceSpeaksTLSWithItsCertificate(t *testing.T) {
	t.Parallel()
	cert, key, client := certificateFiles(t)
	const certName, keyName = "SVC_PLATFORM_TLS_CERT_FILE", "SVC_PLATFORM_TLS_KEY_FILE"
	nowhere := settings(t, certName, "/nowhere/cert.pem", keyName, "/nowhere/key.pem")
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"variables": {settings(t, certName, cert, keyName, key), []string{"serve"}},
		"flags":     {nowhere, []string{"serve", "--tls-cert-file=" + cert, "--tls-key-file=" + key}},
	} {
		harness.Interrupt(t, c.env, func(out string) bool {
			address := regexp.MustCompile(`listening on (https?://\S+)\n`).FindStringSubmatch(out)
			if address == nil {
				return false
			}
			res, err := client.Get(address[1] + "/v1/health")
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return true
			}
			_ = res.Body.Close()
			if res.StatusCode != 200 || res.TLS == nil {
				t.Errorf("%s: %s at %s, TLS %v", name, res.Status, address[1], res.TLS != nil)
			}
			return true
		}, c.args...)
	}
	r := harness.Run(t, settings(t, certName, cert, keyName, cert), "serve")
	if r.Status != 2 || !strings.Contains(r.Err, certName+": ") || !strings.Contains(r.Err, "name a certificate and its key as PEM files") {
		t.Errorf("a key that is none: %d %s", r.Status, r.Err)
	}
}

// TestTheFormatOfTheLogIsASetting: away from a terminal it is JSON unless text is set.
func TestTheFormatOfTheLogIsASetting(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	s.Stop()
	if !strings.Contains(s.Log(), `"msg":"stopping"`) {
		t.Errorf("no JSON:\n%s", s.Log())
	}
	s.Restart(harness.Set("LOG", "text"))
	s.Stop()
	if !strings.Contains(s.Log(), "level=INFO msg=stopping") {
		t.Errorf("no text:\n%s", s.Log())
	}
}

// TestAnArchiveThatCannotBeWrittenLosesNoRun: the log names the directory of the setting, and once it can be
// written the run is archived there.
func TestAnArchiveThatCannotBeWrittenLosesNoRun(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(archive, nil, 0o600); err != nil { // no directory
		t.Fatal(err)
	}
	w := newWorld(t, harness.Set("RETENTION", "500ms"), harness.Set("ARCHIVE_DIR", archive))
	w.MayLogErrors(true)
	run := w.run(t, step("n", "note", nil))
	harness.Until(t, "the archiving to fail", func() bool {
		return strings.Contains(w.Log(), `"msg":"runs not archived"`) && strings.Contains(w.Log(), archive)
	})
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "COMPLETED")
	if err := os.Remove(archive); err != nil {
		t.Fatal(err)
	}
	harness.Until(t, "the archiving", func() bool { return w.viewer.Get("/runs/"+run).Status == 404 })
	if files, err := filepath.Glob(filepath.Join(archive, "default", "runs-*")); len(files) != 1 || err != nil {
		t.Errorf("in the directory: %v, %v", files, err)
	}
}

// TestSecretsOfTheSettingsAreReadFromFiles, each of which is used: to sign in, to write, to call.
func TestSecretsOfTheSettingsAreReadFromFiles(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	office, issuer := mailtest.Open(t, false), oidctest.New(t)
	files := []string{
		"SVC_PLATFORM_STORE_FILE", "SVC_PLATFORM_BOOTSTRAP_TOKEN_FILE", "SVC_PLATFORM_SMTP_URL_FILE",
		"SVC_PLATFORM_SLACK_APP_TOKEN_FILE", "SVC_PLATFORM_SLACK_BOT_TOKEN_FILE", "ISSUER_SECRET_FILE",
	}
	w := newChatWorld(t, 1, harness.Set("SMTP_URL", "smtp://"+office.Address()+"?from=countersign@example.com"),
		harness.Set("OIDC_ISSUER", issuer.URL), harness.Set("OIDC_CLIENT_ID", oidctest.ClientID), harness.Set("OIDC_CLIENT_SECRET_ENV", "ISSUER_SECRET"), harness.Env("ISSUER_SECRET", oidctest.ClientSecret),
		func(s map[string]string) {
			for _, file := range files {
				name, path := strings.TrimSuffix(file, "_FILE"), filepath.Join(t.TempDir(), file)
				if err := os.WriteFile(path, []byte(s[name]+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				delete(s, name)
				s[file] = path
			}
		})
	w.Keep(oidctest.ClientSecret)
	if _, err := os.Stat(w.Store); err != nil { // the bootstrap token has furnished the world
		t.Error(err)
	}
	w.run(t, pay("p", "5", nil))
	if m := w.message(t); !m.Open() {
		t.Errorf("the message in Slack: %s", m.Says())
	}
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	ada := w.NewBrowser()
	ada.Submit("/sign-in", url.Values{"email": {"ada@example.com"}})
	harness.Until(t, "the mail", func() bool { return len(office.Received()) > 0 })
	if ada.Open(atIssuer(t, w.world, ada, "/")); ada.Session() == "" {
		t.Error("the provider's client is not signed in")
	}
	w.Keep(ada.Session())
}

// wrongVariables are values with which no service starts, apart from those of the last two, which may have any
// text.
var wrongVariables = map[string]string{
	"LISTEN": "nowhere", "STORE": "mysql://localhost/x", "BOOTSTRAP_TOKEN": "short", "CONNECTION_ORIGINS": "a.example",
	"SIGNING_ENV_ALLOWLIST": "A-B", "CREDENTIAL_ENV_ALLOWLIST": "A-B", "MAX_ACTIVE_RUNS": "0", "MAX_ACTIVE_RUNS_PER_TENANT": "0",
	"MAX_INSTANCES_PER_AGENT": "0", "MAX_PENDING_APPROVALS_PER_TENANT": "0", "MAX_PENDING_APPROVALS_PER_AGENT": "0", "MAX_WEBHOOKS_PER_TENANT": "0", "MAX_MODEL_BYTES_PER_TENANT": "0",
	"MAX_PROBES_PER_RUN": "0", "APPROVAL_TTL": "24", "ALLOW_SELF_APPROVAL": "maybe", "FOUR_EYES": "owls", "PUBLIC_URL": "example",
	"TRUSTED_PROXIES": "here", "SMTP_URL": "http://mail.example.com", "OIDC_ISSUER": "ftp://a.example", "OIDC_CLIENT_SECRET_ENV": "UNSET",
	"ADMIN_EMAIL": "ann", "STOP_GRACE": "soon", "RETENTION": "a year", "REDACT_AFTER": "a month", "NOTIFY_ORIGINS": "a.example", "LOG": "xml", "METRICS_LISTEN": "nowhere", "SIGN_IN": "saml",
	"SLACK_APP_TOKEN": "x", "SLACK_BOT_TOKEN": "x", "SLACK_CHANNELS": "x", "SLACK_URL": "ftp://a.example",
	"TOKEN_ISSUERS": "default", "WITNESSES": "x", "OIDC_CLIENT_ID": "of-the-variable", "ARCHIVE_DIR": "/nowhere/archive",
}

// TestEveryFlagWinsOverItsVariable: a service starts and works with the flags where each variable is wrong.
func TestEveryFlagWinsOverItsVariable(t *testing.T) {
	t.Parallel()
	slack, issuer, archive := slacktest.Open(t), oidctest.New(t), filepath.Join(t.TempDir(), "archive")
	w := &world{shop: harness.NewReceiver(t), Server: harness.Prepare(t, harness.Env(harness.SecretEnv, harness.Secret), harness.Env("ISSUER_SECRET", oidctest.ClientSecret))}
	flags := map[string]string{
		"LISTEN": "127.0.0.1:0", "STORE": w.Store, "BOOTSTRAP_TOKEN": w.Admin.Token(), "CONNECTION_ORIGINS": w.shop.Origin(),
		"SIGNING_ENV_ALLOWLIST": harness.SecretEnv, "CREDENTIAL_ENV_ALLOWLIST": harness.SecretEnv, "MAX_ACTIVE_RUNS": "5", "MAX_ACTIVE_RUNS_PER_TENANT": "5",
		"MAX_INSTANCES_PER_AGENT": "5", "MAX_PENDING_APPROVALS_PER_TENANT": "5", "MAX_PENDING_APPROVALS_PER_AGENT": "5", "MAX_WEBHOOKS_PER_TENANT": "5", "MAX_MODEL_BYTES_PER_TENANT": "50000",
		"MAX_PROBES_PER_RUN": "5", "APPROVAL_TTL": "1h", "ALLOW_SELF_APPROVAL": "false", "FOUR_EYES": "people", "PUBLIC_URL": "http://countersign.example",
		"TRUSTED_PROXIES": "127.0.0.1", "SMTP_URL": "smtp://127.0.0.1:1?from=a@example.com", "OIDC_ISSUER": issuer.URL, "OIDC_CLIENT_SECRET_ENV": "ISSUER_SECRET",
		"ADMIN_EMAIL": "ada@example.com", "STOP_GRACE": "10s", "RETENTION": "500ms", "REDACT_AFTER": "1h", "NOTIFY_ORIGINS": w.shop.Origin(), "LOG": "json", "METRICS_LISTEN": "127.0.0.1:0", "SIGN_IN": "oidc",
		"SLACK_APP_TOKEN": slacktest.AppToken, "SLACK_BOT_TOKEN": slacktest.BotToken, "SLACK_CHANNELS": "default=" + slackChannel, "SLACK_URL": slack.URL(),
		"TOKEN_ISSUERS": "default=" + issuer.URL, "WITNESSES": "https://w.example " + checkpoint.NewCosigner("w.example", make([]byte, 32), 0).Key.String(), "OIDC_CLIENT_ID": "of-the-flag", "ARCHIVE_DIR": archive,
	}
	args, variables := []string{"serve"}, w.Settings()
	for name, value := range flags {
		args = append(args, flagOf(name)+"="+value)
		variables["SVC_PLATFORM_"+name] = wrongVariables[name]
	}
	elsewhere := []string{"--help", "--tls-cert-file", "--tls-key-file"} // the latter two: TestTheServiceSpeaksTLSWithItsCertificate
	for _, flag := range regexp.MustCompile(`(?m)--[a-z-]+`).FindAllString(harness.Run(t, nil, "serve", "--help").Out, -1) {
		if !slices.Contains(elsewhere, flag) && !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, flag+"=") }) {
			t.Errorf("%s isn't tried", flag)
		}
	}
	r := harness.Run(t, variables, "serve")
	for name := range flags {
		if named := strings.Contains(r.Err, "SVC_PLATFORM_"+name+": "); named == (name == "OIDC_CLIENT_ID" || name == "ARCHIVE_DIR") {
			t.Errorf("%s=%s is refused: %v\n%s", name, wrongVariables[name], named, r.Err)
		}
	}
	w.Command(args...)
	w.Restart(func(s map[string]string) { maps.Copy(s, variables) })
	w.furnish(t)
	if _, page := exchange(t, w.Server, "POST", "/oidc", url.Values{"next": {"/"}}); !strings.Contains(page, "client_id=of-the-flag") {
		t.Errorf("another client signs in:\n%s", page)
	}
	w.reaches(t, w.run(t, step("n", "note", nil)), "COMPLETED")
	harness.Until(t, "the archiving", func() bool { _, err := os.Stat(archive); return err == nil })
}

func flagOf(setting string) string {
	return "--" + strings.ToLower(strings.ReplaceAll(setting, "_", "-"))
}
