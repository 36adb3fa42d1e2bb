package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/platform/mail"
	"github.com/countersign/countersign/internal/platform/oidc"
	"github.com/countersign/countersign/internal/platform/secretfile"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/slacktest"
)

// fromNow is a span that a run of the test doesn't know beforehand.
var fromNow = regexp.MustCompile(`\d+h\d+m\d+s from now`)

// stored is the directory of a store with what fill writes.
func stored(t *testing.T, fill func(store.Tx) error) string {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Update(t.Context(), fill), s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTheDoctorSaysWhatIsWrongAndWhatToDo reads what it says of each.
func TestTheDoctorSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("c.pem", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	relay, err := mail.Parse("smtp://127.0.0.1:1?from=a@example.com", "")
	if err != nil {
		t.Fatal(err)
	}
	ended := files{cert: "old.pem", key: "old.key"}
	ended.issueUntil(t, 1, time.Unix(1_700_000_000, 0))
	limited := slacktest.Open(t)
	limited.Scopes = "chat:write"
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"status":"degraded","version":"1","store":"full"}`)
	}))
	defer full.Close()
	sound := postgres.Server{Server: "PostgreSQL 17", Encoding: "UTF8"}
	server := func(change func(*postgres.Server)) []finding {
		s := sound
		change(&s)
		return checkServer(s)
	}
	future := stored(t, func(store.Tx) error { return nil })
	if err := os.Chtimes(filepath.Join(future, "countersign.db"), time.Time{}, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	damaged := stored(t, func(tx store.Tx) error {
		_, err := records.CredentialMarks.Put(tx, store.Realm, records.CredentialsBoundID, &records.CredentialsBound{}, 0)
		garbled := store.Row{ID: "acme", Doc: []byte("{")}
		headless := store.Row{ID: "head", Doc: []byte("{")}
		return errors.Join(err, tx.Put(store.Tenants, store.Realm, garbled, 0), tx.Put(store.AuditHeads, "acme", headless, 0))
	})
	hurried, hurry := context.WithCancel(t.Context())
	hurry()
	listed := config{Secrets: secretfile.New(map[string]string{"GONE_KEY_FILE": "/nowhere/key"}, "SHOP_KEY", "GONE_KEY"), Credentials: credential.Plain([]string{"SHOP_KEY", "GONE_KEY"}, nil)}
	for _, test := range []struct {
		found []finding
		want  string
	}{
		{examine(t.Context(), settings{}, []string{prefix + "LOG=xml"}, false), `settings: SVC_PLATFORM_LOG: "xml" is neither text nor json: correct it; 'countersign serve --help' lists the settings. `},
		{server(func(s *postgres.Server) { s.Encoding = "SQL_ASCII" }), "database server: PostgreSQL 17, encoding SQL_ASCII, synchronous_commit on for each of our commits (else unknown), standbys waited for: none: make a database with ENCODING 'UTF8' TEMPLATE template0. "},
		{server(func(s *postgres.Server) { s.Fsync = "off" }), "database server: PostgreSQL 17, encoding UTF8, synchronous_commit on for each of our commits (else unknown), standbys waited for: none, fsync off: set fsync = on: a crash of the server would forget what was sent already. "},
		{server(func(s *postgres.Server) { s.Ahead = time.Hour }), "clock: the server's is 1h0m0s ahead of this machine's: run a time service on both machines: approvals, tokens and limits end by the clock. "},
		{[]finding{checkTables(postgres.Server{Schema: 9, Level: 9, KnownLevel: 8}, "postgres://db/x")}, "store: postgres://db/x, schema 9, level 9: this release may use level 8 at most: use the release that wrote it. "},
		{checkAddress(t.Context(), config{Listen: "0.0.0.0:8080"}), "address: tokens travel readable to 0.0.0.0:8080: set SVC_PLATFORM_TLS_CERT_FILE and _TLS_KEY_FILE, or an https SVC_PLATFORM_PUBLIC_URL with a proxy in front. "},
		{checkCertificate(t.Context(), config{CertFile: "c.pem", KeyFile: "c.pem"}), "certificate: tls: failed to find any PEM data in certificate input: give a certificate and its key as PEM files. "},
		{checkCertificate(t.Context(), config{CertFile: ended.cert, KeyFile: ended.key}), "certificate: it ended at 2023-11-14T22:13:20Z: renew its files; the service takes them at once. "},
		{checkService(t.Context(), config{Listen: strings.TrimPrefix(full.URL, "http://")}), "service: it runs and says degraded, store full: see the store and the disk. "},
		{checkSlack(t.Context(), config{Slack: &slackConfig{URL: limited.URL(), AppToken: slacktest.AppToken, BotToken: slacktest.BotToken}}), "slack: the bot token lacks users:read, users:read.email: add the scopes to the app and install it again. "},
		{checkCredentials(t.Context(), listed), "credential: SHOP_KEY is listed and not set: set it where the service is started; LIVE calls that need it fail until then. credential: GONE_KEY_FILE: /nowhere/key can't be read: no such file or directory: let the service read it; LIVE calls that need it fail until then. "},
		{checkStore(t.Context(), config{Store: "postgres://u:p@127.0.0.1:1/x"}, false), "store: store x at 127.0.0.1:1: store: unavailable: failed to connect to `user=u database=x`:\n	127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused\n	127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused: look at SVC_PLATFORM_STORE, whether the server runs and can be reached from here, and who may connect to it (pg_hba.conf). "},
		{checkStore(t.Context(), config{Store: "postgres://%zz"}, false), "store: the address of the store can't be used: cannot parse `postgres://%zz`: failed to parse as URL (invalid percent-encoded token: \"%zz\"): correct SVC_PLATFORM_STORE; the password can be given as PGPASSWORD or PGPASSFILE. "},
		{checkDirectory(t.Context(), config{Store: future}, false), "clock: the store was written at 2200-01-01T00:00:00Z, TIME from now: set the clock: approvals and tokens end by it. "},
		{checkRecords(t.Context(), damaged, true), "records: 1 can't be read: tenants acme of the realm: keep the store as it is, and compare it with a backup; what rests on these records waits, all else goes on. "},
		{checkAudit(t.Context(), damaged, false), "audit log: the log of tenant acme is not what was written: record 0: keep the store as it is, and compare it with a backup: a person or a disk fault changed the log. "},
		{checkOwners(t.Context(), config{Store: damaged}), ""},
		{checkRecords(hurried, damaged, true), "records: they can't be read: store " + damaged + ": can't be read: context canceled: look again; if it stays so, restore a backup. "},
		{checkAudit(hurried, damaged, false), "audit log: it can't be read: store " + damaged + ": can't be read: context canceled: look again; if it stays so, restore a backup. "},
		{checkOwners(hurried, config{Store: damaged}), "credential owners: the owners of the projects' credentials are not known: store " + damaged + ": can't be read: context canceled: look again; if it stays so, restore a backup. "},
		{checkUpgrade(t.Context(), config{Store: damaged}), ""},
		{checkUpgrade(hurried, config{Store: damaged}), "upgrade: what this release means otherwise is not known: store " + damaged + ": can't be read: context canceled: look again; if it stays so, restore a backup. "},
		{checkAnswerKeys(t.Context(), config{Store: damaged}), ""},
		{checkAnswerKeys(hurried, config{Store: damaged}), "answer keys: which projects share an answer key is not known: store " + damaged + ": can't be read: context canceled: look again; if it stays so, restore a backup. "},
		{checkMail(t.Context(), config{Mail: relay}), "mail: mail to 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused: correct SVC_PLATFORM_SMTP_URL, or look at the mail server. "},
		{checkSlack(t.Context(), config{Slack: &slackConfig{URL: "http://127.0.0.1:1/", AppToken: "xapp-0123456789", BotToken: "xoxb-0123456789"}}), "slack: auth.test: dial tcp 127.0.0.1:1: connect: connection refused: correct SVC_PLATFORM_SLACK_APP_TOKEN or SVC_PLATFORM_SLACK_BOT_TOKEN, turn Socket Mode on for the app, or look at the network. "},
		{[]finding{issuerFinding(issuer.Found{Issuer: "https://id.example.com", Keys: 2, Ahead: -2 * time.Minute})}, "issuer: https://id.example.com: its clock is -2m0s ahead of ours, and 1m0s are allowed: set both clocks; tokens seem expired, or not begun. "},
		{[]finding{issuerFinding(issuer.Found{Issuer: "https://id.example.com", Err: errors.New("no answer")})}, "issuer: https://id.example.com: no answer: correct SVC_PLATFORM_TOKEN_ISSUERS, or look at the issuer and the network; no token of it is taken until then. "},
		{checkIssuers(t.Context(), config{Listen: "127.0.0.1:8080", TokenIssuers: []issuer.Entry{{Tenant: "default", Issuer: "http://127.0.0.1:1"}}}), `issuer: http://127.0.0.1:1: its description: Get "http://127.0.0.1:1/.well-known/openid-configuration": dial tcp 127.0.0.1:1: connect: connection refused: correct SVC_PLATFORM_TOKEN_ISSUERS, or look at the issuer and the network; no token of it is taken until then. `},
		{checkProvider(t.Context(), config{OIDC: &oidc.Config{Issuer: "http://127.0.0.1:1", ClientID: "c", ClientSecret: "s"}}), `sign-in: the provider's description: Get "http://127.0.0.1:1/.well-known/openid-configuration": dial tcp 127.0.0.1:1: connect: connection refused: correct SVC_PLATFORM_OIDC_ISSUER, or look at the provider. `},
		{checkService(t.Context(), config{Listen: "127.0.0.1:99999"}), "service: it doesn't answer at 127.0.0.1:99999, and could not listen there: listen tcp: address 99999: invalid port: stop what listens there, or set SVC_PLATFORM_LISTEN. "},
	} {
		got := ""
		for _, f := range test.found {
			if f.State == findingBroken {
				got += f.Check + ": " + f.Seen + ": " + f.Do + ". "
			}
		}
		if got = fromNow.ReplaceAllString(got, "TIME from now"); got != test.want {
			t.Errorf("\n got %s\nwant %s", got, test.want)
		}
	}
}

// TestTheDoctorWarnsOfAnIssuersClock, before its tokens seem expired.
func TestTheDoctorWarnsOfAnIssuersClock(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]string{
		0:                 "https://id.example.com describes itself, with 2 keys, and its clock is right",
		45 * time.Second:  "https://id.example.com: its clock is 45s ahead of ours",
		-45 * time.Second: "https://id.example.com: its clock is -45s ahead of ours",
	} {
		if got := issuerFinding(issuer.Found{Issuer: "https://id.example.com", Keys: 2, Ahead: ahead}); got.Seen != want || (got.Do == "") != (ahead == 0) {
			t.Errorf("%s: %+v", ahead, got)
		}
	}
	found := checkIssuers(t.Context(), config{Listen: "127.0.0.1:8080", TokenIssuers: []issuer.Entry{{Tenant: "default", Issuer: "http://127.0.0.1:1"}}})
	if len(found) != 2 || found[1].Seen != "a token must name the address of this service as its audience, which is 127.0.0.1:8080 now" {
		t.Errorf("%+v", found)
	}
}
