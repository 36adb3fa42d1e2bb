package main

import (
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// The settings of a Slack app and of an identity provider, each a group whose members go together.
var (
	aWitness = "https://w.example " + checkpoint.NewCosigner("w.example", make([]byte, 32), 0).String()
	ofSlack  = []string{"SLACK_APP_TOKEN=xapp-0123456789", "SLACK_BOT_TOKEN=xoxb-0123456789", "SLACK_CHANNELS=default=C0123ABCD"}
	ofOIDC   = []string{"OIDC_ISSUER=https://accounts.example.com", "OIDC_CLIENT_ID=c", "OIDC_CLIENT_SECRET_ENV=SECRET"}
)

// with is a group with others, of which the last of a name counts.
func with(group []string, more ...string) []string {
	return append(append([]string{}, group...), more...)
}

// wrongSettings are wrong values, and what is said of them.
var wrongSettings = []struct {
	set  []string
	want string
}{
	{[]string{"LISTN=x"}, "[SVC_PLATFORM_LISTN: there is no such setting; see countersign serve --help]"},
	{[]string{"LISTEN=nowhere"}, `[SVC_PLATFORM_LISTEN: "nowhere" is no address such as 127.0.0.1:8080]`},
	{[]string{"METRICS_LISTEN=9464"}, `[SVC_PLATFORM_METRICS_LISTEN: "9464" is no address such as 127.0.0.1:9464]`},
	{[]string{"SIGN_IN=saml"}, `[SVC_PLATFORM_SIGN_IN: "saml" is neither any nor oidc]`},
	{[]string{"SIGN_IN=oidc"}, "[SVC_PLATFORM_SIGN_IN: with oidc set up the provider, too: SVC_PLATFORM_OIDC_ISSUER, SVC_PLATFORM_OIDC_CLIENT_ID and SVC_PLATFORM_OIDC_CLIENT_SECRET_ENV]"},
	{[]string{"STORE=mysql://localhost/x"}, "[SVC_PLATFORM_STORE: it is neither a directory nor an address such as postgres://user:password@host/database]"},
	{[]string{"MAX_ACTIVE_RUNS=0"}, `[SVC_PLATFORM_MAX_ACTIVE_RUNS: "0" is no whole number from 1 to 10000]`},
	{[]string{"MAX_ACTIVE_RUNS_PER_TENANT=many"}, `[SVC_PLATFORM_MAX_ACTIVE_RUNS_PER_TENANT: "many" is no whole number from 1 to 10000]`},
	{[]string{"APPROVAL_TTL=24"}, `[SVC_PLATFORM_APPROVAL_TTL: "24" is no duration such as 24h or 90s]`},
	{[]string{"REDACT_AFTER=a month"}, `[SVC_PLATFORM_REDACT_AFTER: "a month" is no duration such as 720h or 30d]`},
	{[]string{"RETENTION=a year"}, `[SVC_PLATFORM_RETENTION: "a year" is no duration such as 2160h or 90d]`},
	{[]string{"STORE=postgres://localhost/x", "RETENTION=90d"}, "[SVC_PLATFORM_RETENTION: with a database as the store, say with SVC_PLATFORM_ARCHIVE_DIR in which directory runs are archived; replicas may share it]"},
	{[]string{"ALLOW_SELF_APPROVAL=maybe"}, `[SVC_PLATFORM_ALLOW_SELF_APPROVAL: "maybe" is neither true nor false]`},
	{[]string{"FOUR_EYES=owls"}, `[SVC_PLATFORM_FOUR_EYES: "owls" is neither principals nor people]`},
	{[]string{"FOUR_EYES=people", "ALLOW_SELF_APPROVAL=true"}, "[SVC_PLATFORM_FOUR_EYES: people contradicts SVC_PLATFORM_ALLOW_SELF_APPROVAL=true; leave one of them out]"},
	{[]string{"BOOTSTRAP_TOKEN=short"}, "[SVC_PLATFORM_BOOTSTRAP_TOKEN: it must be at least 32 visible ASCII characters without commas]"},
	{[]string{"BOOTSTRAP_TOKEN=csn_0000000000000000000000000000000000000000000000000"}, "[SVC_PLATFORM_BOOTSTRAP_TOKEN: it begins with csn_ and is not one of ours; a character is wrong, or begin it otherwise]"},
	{[]string{"PUBLIC_URL=example"}, `[SVC_PLATFORM_PUBLIC_URL: "example" is no http or https address]`},
	{[]string{"TLS_CERT_FILE=c.pem"}, "[SVC_PLATFORM_TLS_CERT_FILE: it and SVC_PLATFORM_TLS_KEY_FILE go together]"},
	{[]string{"LOG=xml"}, `[SVC_PLATFORM_LOG: "xml" is neither text nor json]`},
	{[]string{"CONNECTION_ORIGINS=https://a.example/x"}, `[SVC_PLATFORM_CONNECTION_ORIGINS: "https://a.example/x": must be an origin only: no path]`},
	{[]string{"NOTIFY_ORIGINS=a.example"}, `[SVC_PLATFORM_NOTIFY_ORIGINS: "a.example": must be an HTTP or HTTPS origin such as https://api.example.com]`},
	{[]string{"SIGNING_ENV_ALLOWLIST=A-B"}, `[SVC_PLATFORM_SIGNING_ENV_ALLOWLIST: "A-B": "A-B" is no name of an environment variable; an entry is NAME, tenant/NAME, NAME@https://origin or tenant/NAME@https://origin]`},
	{[]string{"TRUSTED_PROXIES=here"}, `[SVC_PLATFORM_TRUSTED_PROXIES: "here" is no address and no network such as 10.0.0.0/8]`},
	{[]string{"ADMIN_EMAIL=ann"}, `[SVC_PLATFORM_ADMIN_EMAIL: "ann" is no e-mail address]`},
	{[]string{"SMTP_URL=http://mail.example.com"}, "[SVC_PLATFORM_SMTP_URL: it must begin with smtp:// or smtps://]"},
	{[]string{"SMTP_URL=smtp://mail.example.com", "SMTP_URL_FILE=/dev/null"}, "[SVC_PLATFORM_SMTP_URL: it and SVC_PLATFORM_SMTP_URL_FILE are both set; keep one SVC_PLATFORM_SMTP_URL_FILE: /dev/null is no plain file]"},
	{[]string{"SMTP_URL_FILE=empty"}, "[SVC_PLATFORM_SMTP_URL_FILE: empty is empty]"},
	{[]string{"SMTP_URL_FILE=/nowhere/url"}, "[SVC_PLATFORM_SMTP_URL_FILE: /nowhere/url can't be read: no such file or directory]"},
	{ofOIDC[:1], "[SVC_PLATFORM_OIDC_ISSUER: it, SVC_PLATFORM_OIDC_CLIENT_ID and SVC_PLATFORM_OIDC_CLIENT_SECRET_ENV go together]"},
	{with(ofOIDC[1:], "OIDC_ISSUER=http://accounts.example.com"), "[SVC_PLATFORM_OIDC_ISSUER: it is no https address such as https://accounts.example.com]"},
	{[]string{"TOKEN_ISSUERS=https://id.example.com"}, `[SVC_PLATFORM_TOKEN_ISSUERS: "https://id.example.com": write tenant=https://issuer, or tenant=https://issuer#claim=value where tenants share the issuer]`},
	{[]string{"TOKEN_ISSUERS=acme=https://id.example.com#org"}, `[SVC_PLATFORM_TOKEN_ISSUERS: "acme=https://id.example.com#org": write tenant=https://issuer, or tenant=https://issuer#claim=value where tenants share the issuer]`},
	{[]string{"TOKEN_ISSUERS=Acme=https://id.example.com"}, `[SVC_PLATFORM_TOKEN_ISSUERS: "Acme=https://id.example.com": "Acme" is no id of a tenant; write tenant=https://issuer, or tenant=https://issuer#claim=value where tenants share the issuer]`},
	{[]string{"TOKEN_ISSUERS=acme=http://id.example.com"}, `[SVC_PLATFORM_TOKEN_ISSUERS: "acme=http://id.example.com": the issuer is no https address such as https://id.example.com; plain http is for one on this machine]`},
	{[]string{"TOKEN_ISSUERS=acme=https://id.example.com,globex=https://id.example.com#org=2"}, `[SVC_PLATFORM_TOKEN_ISSUERS: https://id.example.com is listed twice; where tenants share an issuer, each entry says by #claim=value which tokens are its tenant's]`},
	{[]string{"TOKEN_ISSUERS=acme=https://id.example.com#org=1,globex=https://id.example.com#org=1"}, `[SVC_PLATFORM_TOKEN_ISSUERS: https://id.example.com#org=1 is listed twice]`},
	{ofSlack[:1], "[SVC_PLATFORM_SLACK_APP_TOKEN: it, SVC_PLATFORM_SLACK_BOT_TOKEN and SVC_PLATFORM_SLACK_CHANNELS go together]"},
	{with(ofSlack[1:], "SLACK_APP_TOKEN=x"), "[SVC_PLATFORM_SLACK_APP_TOKEN: it is no app-level token, which begins with xapp-; see Basic Information of the app]"},
	{with(ofSlack[2:], ofSlack[0], "SLACK_BOT_TOKEN=x"), "[SVC_PLATFORM_SLACK_BOT_TOKEN: it is no bot token, which begins with xoxb-; see OAuth & Permissions of the app]"},
	{[]string{"WITNESSES=witness.example k"}, `[SVC_PLATFORM_WITNESSES: "witness.example k" does not begin with the http or https URL of a witness, without user, query and fragment; each entry is URL, a space, and VKEY]`},
	{[]string{"WITNESSES=https://witness.example k"}, `[SVC_PLATFORM_WITNESSES: "https://witness.example k": it is no vkey of an Ed25519 key: NAME+8 digits of hex+base64]`},
	{[]string{"WITNESSES=" + aWitness + "," + aWitness}, "[SVC_PLATFORM_WITNESSES: w.example stands twice]"},
	{with(ofSlack, "SLACK_URL=http://slack.example.com"), "[SVC_PLATFORM_SLACK_URL: it is no https address such as https://slack.com/api/]"},
	{with(ofSlack[:2], "SLACK_CHANNELS=default"), `[SVC_PLATFORM_SLACK_CHANNELS: "default" is no tenant and channel id such as default=C0123ABCD; the id stands at the end of the channel's details]`},
	{with(ofSlack[:2], "SLACK_CHANNELS=default=C0123ABCD,default=C0123ABCE"), "[SVC_PLATFORM_SLACK_CHANNELS: tenant default has two channels; keep one]"},
	{[]string{"STOP_GRACE=soon"}, `[SVC_PLATFORM_STOP_GRACE: "soon" is no duration such as 24h or 90s]`},
	{[]string{"MAX_INSTANCES_PER_AGENT=0"}, `[SVC_PLATFORM_MAX_INSTANCES_PER_AGENT: "0" is no whole number from 1 on]`},
	{[]string{"MAX_PENDING_APPROVALS_PER_AGENT=none"}, `[SVC_PLATFORM_MAX_PENDING_APPROVALS_PER_AGENT: "none" is no whole number from 1 on]`},
	{[]string{"MAX_PENDING_APPROVALS_PER_TENANT=many"}, `[SVC_PLATFORM_MAX_PENDING_APPROVALS_PER_TENANT: "many" is no whole number from 1 on]`},
	{[]string{"MAX_WEBHOOKS_PER_TENANT=1.5"}, `[SVC_PLATFORM_MAX_WEBHOOKS_PER_TENANT: "1.5" is no whole number from 1 on]`},
	{[]string{"MAX_MODEL_BYTES_PER_TENANT=1GiB"}, `[SVC_PLATFORM_MAX_MODEL_BYTES_PER_TENANT: "1GiB" is no whole number from 1 on]`},
	{[]string{"MAX_PROBES_PER_RUN=-1"}, `[SVC_PLATFORM_MAX_PROBES_PER_RUN: "-1" is no whole number from 1 on]`},
	{[]string{"CREDENTIAL_ENV_ALLOWLIST=A@x"}, `[SVC_PLATFORM_CREDENTIAL_ENV_ALLOWLIST: "A@x": the origin behind @: must be an HTTP or HTTPS origin such as https://api.example.com]`},
	{[]string{"TLS_KEY_FILE=k.pem"}, "[SVC_PLATFORM_TLS_CERT_FILE: it and SVC_PLATFORM_TLS_KEY_FILE go together]"},
	{ofOIDC[1:2], "[SVC_PLATFORM_OIDC_ISSUER: it, SVC_PLATFORM_OIDC_CLIENT_ID and SVC_PLATFORM_OIDC_CLIENT_SECRET_ENV go together]"},
	{with(ofOIDC[:2], "OIDC_CLIENT_SECRET_ENV=UNSET"), "[SVC_PLATFORM_OIDC_CLIENT_SECRET_ENV: it is the name of the variable that holds the secret; there is no such variable, or it is empty]"},
}

// TestAWrongSettingSaysWhatWouldBeRight reads the message of each wrong value.
func TestAWrongSettingSaysWhatWouldBeRight(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("empty", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range wrongSettings {
		environ := []string{}
		for _, s := range test.set {
			environ = append(environ, prefix+s)
		}
		environ = append(environ, "SECRET=0123456789abcdef")
		if _, err := understand(settings{}, environ); err == nil || err.Error() != test.want {
			t.Errorf("%q\n got %v\nwant %s", test.set, err, test.want)
		}
	}
}

// TestASecretSettingIsReadFromItsFile, whichever it is.
func TestASecretSettingIsReadFromItsFile(t *testing.T) {
	t.Chdir(t.TempDir())
	token := strings.Repeat("t", minBootstrap)
	environ := []string{prefix + "SLACK_CHANNELS=default=C0123ABCD"}
	for name, secret := range map[string]string{
		"STORE": "postgres://u:p@db/x", "BOOTSTRAP_TOKEN": token, "SMTP_URL": "smtp://mail.example.com?from=a@example.com",
		"SLACK_APP_TOKEN": "xapp-0123456789", "SLACK_BOT_TOKEN": "xoxb-0123456789",
	} {
		if err := os.WriteFile(name, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		environ = append(environ, prefix+name+"_FILE="+name)
	}
	c, err := understand(settings{}, environ)
	if err != nil {
		t.Fatal(err)
	}
	if c.Store != "postgres://u:p@db/x" || c.BootstrapToken != token || c.Mail.From() != "a@example.com" || c.Slack.AppToken != "xapp-0123456789" || c.Slack.BotToken != "xoxb-0123456789" {
		t.Errorf("%+v", c)
	}
}
