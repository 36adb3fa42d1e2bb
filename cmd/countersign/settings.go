package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/platform/mail"
	"github.com/countersign/countersign/internal/platform/oidc"
	"github.com/countersign/countersign/internal/platform/secretfile"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/cli"
)

// prefix begins the name of every setting's environment variable. A flag takes precedence over the
// variable (contract 10).
const prefix = "SVC_PLATFORM_"

// settings are read as text, so that all errors in them can be reported at once.
type settings struct {
	Listen            string `help:"Address to listen on; port 0 picks one." placeholder:"127.0.0.1:8080"`
	Store             string `help:"Directory of the embedded store, or postgres:// URL of a database that several replicas share; it may hold a password, so prefer the variable." placeholder:"./countersign-data"`
	BootstrapToken    string `help:"First token on an empty store, at least 32 visible characters; ignored later." placeholder:"TOKEN"`
	ConnectionOrigins string `help:"Origins that projects may be registered with, comma-separated." placeholder:"https://api.example.com,…"`
	SigningEnv        string `name:"signing-env-allowlist" help:"Environment variables usable as HMAC credentials, each by the tenant that registers it first, or as tenant/NAME, NAME@https://origin or tenant/NAME@https://origin." placeholder:"NAME,…"`
	CredentialEnv     string `name:"credential-env-allowlist" help:"Environment variables usable as credentials, written likewise; default: the signing list." placeholder:"NAME,…"`
	MaxActiveRuns     string `help:"Runs that may be READY or RUNNING at once." placeholder:"4"`
	MaxRunsPerTenant  string `name:"max-active-runs-per-tenant" help:"Of these, how many one tenant may have; default: all with one tenant, all but one with more." placeholder:"N"`
	MaxInstances      string `name:"max-instances-per-agent" help:"Instances of an agent that are kept." placeholder:"1000"`
	MaxAsking         string `name:"max-pending-approvals-per-agent" help:"LIVE runs of an agent that may wait for an approval." placeholder:"20"`
	MaxApprovals      string `name:"max-pending-approvals-per-tenant" help:"Approvals of a tenant that may wait at once." placeholder:"10000"`
	MaxWebhooks       string `name:"max-webhooks-per-tenant" help:"Webhooks of a tenant." placeholder:"100"`
	MaxModelBytes     string `name:"max-model-bytes-per-tenant" help:"Bytes of a tenant's models and their revisions." placeholder:"1073741824"`
	MaxProbes         string `name:"max-probes-per-run" help:"Probes of a run." placeholder:"1000"`
	ApprovalTTL       string `name:"approval-ttl" help:"How long an approval may be decided." placeholder:"24h"`
	AllowSelfApproval string `help:"Let whoever asked for a run decide it (one-person installations)." placeholder:"false"`
	FourEyes          string `help:"Who may approve. principals: anyone with the role but the requester and tokens that the requester made. people: besides, it must be a user, or a token that is confirmed as a user's, who made none of the tokens behind the request." placeholder:"principals"`
	PublicURL         string `name:"public-url" help:"Address under which the service is reached." placeholder:"URL"`
	TLSCertFile       string `name:"tls-cert-file" help:"Certificate to serve TLS with." placeholder:"FILE"`
	TLSKeyFile        string `name:"tls-key-file" help:"Key of the certificate." placeholder:"FILE"`
	TrustedProxies    string `help:"Proxies whose X-Forwarded-For counts." placeholder:"CIDR,…"`
	SMTPURL           string `name:"smtp-url" help:"Mail server for sign-in codes and notices; a flag shows in the list of processes, so prefer the variable." placeholder:"URL"`
	OIDCIssuer        string `name:"oidc-issuer" help:"OpenID Connect issuer." placeholder:"URL"`
	OIDCClientID      string `name:"oidc-client-id" help:"OpenID Connect client." placeholder:"ID"`
	OIDCClientSecret  string `name:"oidc-client-secret-env" help:"Variable that holds the client's secret." placeholder:"NAME"`
	TokenIssuers      string `help:"Issuers whose tokens agents may sign in with, comma-separated, each as tenant=https://issuer, or as tenant=https://issuer#claim=value where tenants share an issuer." placeholder:"default=https://id.example.com,…"`
	AdminEmail        string `help:"First realm administrator of the console." placeholder:"EMAIL"`
	StopGrace         string `help:"How long a stop waits for calls in flight." placeholder:"65s"`
	Retention         string `help:"How long finished runs stay before they are archived, such as 2160h or 90d; default: for ever." placeholder:"DURATION"`
	ArchiveDir        string `help:"Directory that runs are archived in; default: archive in the store's directory." placeholder:"DIR"`
	RedactAfter       string `help:"How long after its end a run may be redacted." placeholder:"30d"`
	NotifyOrigins     string `help:"Origins that webhooks may be told at, comma-separated; none: no webhook is registered or told." placeholder:"URL,…"`
	SlackAppToken     string `help:"App-level token (xapp-…) of a Slack app in Socket Mode; a flag shows in the list of processes, so prefer the variable." placeholder:"TOKEN"`
	SlackBotToken     string `help:"Bot token (xoxb-…) of the same app; prefer the variable likewise." placeholder:"TOKEN"`
	SlackChannels     string `help:"Channel of each tenant whose approvals are shown and decided in Slack, by its id, comma-separated." placeholder:"default=C0123ABCD,…"`
	SlackURL          string `name:"slack-url" help:"Slack's Web API; GovSlack has another." placeholder:"https://slack.com/api/"`
	Witnesses         string `help:"Witnesses that cosign the audit logs, each its URL, a space and its vkey, comma-separated." placeholder:"URL VKEY,…"`
	MetricsListen     string `help:"Address that serves the installation's figures at /metrics without a token; port 0 picks one. Default: none. Whoever reaches it reads them, so keep it on this machine or behind a firewall." placeholder:"127.0.0.1:9464"`
	SignIn            string `help:"How sessions begin: any, so that each way works that is set up; or oidc, so that the OpenID Connect provider alone begins them, and no code, link or passkey does." placeholder:"any"`
	Log               string `help:"Log format, text or json; default: text on a terminal." placeholder:"FORMAT"`
}

// config has the parsed settings.
type config struct {
	Listen            string
	MetricsListen     string // "": figures are served by the API alone
	SignInBy          access.SignInBy
	Store             string
	BootstrapToken    string
	Origins           []string
	NotifyOrigins     []string
	Credentials       credential.Lists
	MaxActive         int
	MaxPerTenant      int // the share of one tenant; 0: see runrepo.Share
	Quotas            quota.Bounds
	ApprovalTTL       time.Duration
	Eyes              access.Eyes
	PublicURL         string
	CertFile, KeyFile string
	TrustedProxies    []netip.Prefix
	AdminEmail        string
	Mail              *mail.Server // nil: no mail server
	Slack             *slackConfig // nil: no app
	OIDC              *oidc.Config // nil: no provider; the service sets its addresses
	Witnesses         []witnessing.Witness
	TokenIssuers      []issuer.Entry
	StopGrace         time.Duration
	Retention         time.Duration // 0: for ever
	ArchiveDir        string
	RedactAfter       time.Duration
	LogFormat         string
	Warnings          []string
	Getenv            func(string) string
	Secrets           *secretfile.Source // the secrets in the listed variables
}

// settingReader takes each setting from flag, environment or default, and collects errors.
type settingReader struct {
	env      map[string]string
	flags    map[string]string
	files    map[string]string // contents of the settings' secret files
	problems []string
}

// listed are the variables that projects may name.
func (c config) listed() []string { return c.Credentials.Names() }

// understand parses settings into a config, or returns an error with a line for each problem.
func understand(s settings, environ []string) (config, error) {
	r := &settingReader{env: environment(environ), flags: s.byName(), files: map[string]string{}}
	c := config{
		Listen: r.text("LISTEN", "127.0.0.1:8080"), Store: r.text("STORE", "./countersign-data"),
		BootstrapToken: r.text("BOOTSTRAP_TOKEN", ""),
		MaxActive:      r.count("MAX_ACTIVE_RUNS", countersign.MaxActiveRuns), ApprovalTTL: r.duration("APPROVAL_TTL", countersign.ApprovalTTL),
		Eyes: r.eyes(), PublicURL: r.text("PUBLIC_URL", ""),
		CertFile: r.text("TLS_CERT_FILE", ""), KeyFile: r.text("TLS_KEY_FILE", ""),
		StopGrace: r.duration("STOP_GRACE", 65*time.Second), LogFormat: r.text("LOG", ""),
		Getenv: func(name string) string { return r.env[name] },
	}
	if r.text("MAX_ACTIVE_RUNS_PER_TENANT", "") != "" {
		c.MaxPerTenant = r.count("MAX_ACTIVE_RUNS_PER_TENANT", 0)
	}
	c.Quotas = quota.Bounds{
		Instances: r.bound("MAX_INSTANCES_PER_AGENT", countersign.MaxInstances), Approvals: r.bound("MAX_PENDING_APPROVALS_PER_TENANT", countersign.MaxPendingApprovals),
		Asking:   r.bound("MAX_PENDING_APPROVALS_PER_AGENT", countersign.MaxAskingRuns),
		Webhooks: r.bound("MAX_WEBHOOKS_PER_TENANT", countersign.MaxWebhooks), ModelBytes: r.bound("MAX_MODEL_BYTES_PER_TENANT", countersign.MaxModelBytes),
		Probes: r.bound("MAX_PROBES_PER_RUN", countersign.MaxProbes),
	}
	c.Origins, c.NotifyOrigins = r.origins("CONNECTION_ORIGINS"), r.origins("NOTIFY_ORIGINS")
	c.TrustedProxies, c.AdminEmail = r.networks("TRUSTED_PROXIES"), r.email("ADMIN_EMAIL")
	c.Retention, c.ArchiveDir = r.retention(c.Store)
	c.RedactAfter = r.redactAfter()
	c.Mail, c.OIDC = r.mail(c.AdminEmail), r.oidc()
	c.MetricsListen, c.SignInBy = r.text("METRICS_LISTEN", ""), r.signInBy(c.OIDC)
	c.Slack, c.Witnesses, c.TokenIssuers = r.slack(), r.witnesses(), r.issuers()
	c.Credentials.Signing = r.entries("SIGNING_ENV_ALLOWLIST")
	c.Credentials.General = c.Credentials.Signing
	if r.text("CREDENTIAL_ENV_ALLOWLIST", "") != "" {
		c.Credentials.General = r.entries("CREDENTIAL_ENV_ALLOWLIST")
	}
	c.Secrets = r.secrets(c.listed())
	r.check(c)
	r.unknown(c)
	if len(r.problems) > 0 {
		return c, cli.UnusableError{Lines: r.problems}
	}
	return c, nil
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, pair := range environ {
		if name, v, ok := strings.Cut(pair, "="); ok {
			env[name] = v
		}
	}
	return env
}

// byName maps the names of settings to the values of flags.
func (s settings) byName() map[string]string {
	return map[string]string{
		"LISTEN": s.Listen, "STORE": s.Store, "BOOTSTRAP_TOKEN": s.BootstrapToken, "CONNECTION_ORIGINS": s.ConnectionOrigins,
		"SIGNING_ENV_ALLOWLIST": s.SigningEnv, "CREDENTIAL_ENV_ALLOWLIST": s.CredentialEnv, "MAX_ACTIVE_RUNS": s.MaxActiveRuns,
		"MAX_ACTIVE_RUNS_PER_TENANT": s.MaxRunsPerTenant, "MAX_INSTANCES_PER_AGENT": s.MaxInstances, "MAX_PENDING_APPROVALS_PER_TENANT": s.MaxApprovals, "MAX_PENDING_APPROVALS_PER_AGENT": s.MaxAsking,
		"MAX_WEBHOOKS_PER_TENANT": s.MaxWebhooks, "MAX_MODEL_BYTES_PER_TENANT": s.MaxModelBytes, "MAX_PROBES_PER_RUN": s.MaxProbes,
		"APPROVAL_TTL": s.ApprovalTTL, "ALLOW_SELF_APPROVAL": s.AllowSelfApproval, "FOUR_EYES": s.FourEyes, "PUBLIC_URL": s.PublicURL,
		"TLS_CERT_FILE": s.TLSCertFile, "TLS_KEY_FILE": s.TLSKeyFile, "TRUSTED_PROXIES": s.TrustedProxies, "SMTP_URL": s.SMTPURL,
		"OIDC_ISSUER": s.OIDCIssuer, "OIDC_CLIENT_ID": s.OIDCClientID, "OIDC_CLIENT_SECRET_ENV": s.OIDCClientSecret,
		"TOKEN_ISSUERS": s.TokenIssuers, "ADMIN_EMAIL": s.AdminEmail, "STOP_GRACE": s.StopGrace, "RETENTION": s.Retention, "ARCHIVE_DIR": s.ArchiveDir, "REDACT_AFTER": s.RedactAfter, "NOTIFY_ORIGINS": s.NotifyOrigins, "LOG": s.Log,
		"SLACK_APP_TOKEN": s.SlackAppToken, "SLACK_BOT_TOKEN": s.SlackBotToken, "SLACK_CHANNELS": s.SlackChannels, "SLACK_URL": s.SlackURL,
		"WITNESSES": s.Witnesses, "METRICS_LISTEN": s.MetricsListen, "SIGN_IN": s.SignIn,
	}
}

func (r *settingReader) bad(name, format string, args ...any) {
	r.problems = append(r.problems, prefix+name+": "+fmt.Sprintf(format, args...))
}

func (r *settingReader) text(name, fallback string) string {
	if v := r.flags[name]; v != "" {
		return v
	}
	if path := r.env[prefix+name+secretfile.Suffix]; path != "" && slices.Contains(fromFiles, name) {
		return r.file(name, path)
	}
	if v := r.env[prefix+name]; v != "" {
		return v
	}
	return fallback
}

func (r *settingReader) list(name string) []string {
	var out []string
	for _, item := range strings.Split(r.text(name, ""), ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

func (r *settingReader) entries(name string) (out []credential.Entry) {
	for _, item := range r.list(name) {
		e, err := credential.ParseEntry(item)
		if err != nil {
			r.bad(name, "%q: %v", item, err)
		}
		out = append(out, e)
	}
	return out
}

func (r *settingReader) origins(name string) []string {
	var out []string
	for _, item := range r.list(name) {
		o, err := request.NormalizeOrigin(item)
		if err != nil {
			r.bad(name, "%q: %v", item, err)
			continue
		}
		out = append(out, o)
	}
	return out
}

func (r *settingReader) count(name string, fallback int) int {
	v := r.text(name, strconv.Itoa(fallback))
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 10000 {
		r.bad(name, "%q is no whole number from 1 to 10000", v)
	}
	return n
}

func (r *settingReader) bound(name string, fallback int) int {
	v := r.text(name, strconv.Itoa(fallback))
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		r.bad(name, "%q is no whole number from 1 on", v)
	}
	return n
}

func (r *settingReader) duration(name string, fallback time.Duration) time.Duration {
	v := r.text(name, fallback.String())
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		r.bad(name, "%q is no duration such as 24h or 90s", v)
	}
	return d
}

// retention is how long finished runs are kept in the store, and the directory of the archive. It
// accepts whole days with a d, which Go's durations lack.
func (r *settingReader) retention(st string) (keep time.Duration, dir string) {
	v := r.text("RETENTION", "")
	dir = r.text("ARCHIVE_DIR", "")
	if v == "" {
		return 0, dir
	}
	keep, err := daysOr(v)
	if err != nil || keep <= 0 {
		r.bad("RETENTION", "%q is no duration such as 2160h or 90d", v)
	}
	switch {
	case dir != "":
	case isShared(st):
		r.bad("RETENTION", "with a database as the store, say with %sARCHIVE_DIR in which directory runs are archived; replicas may share it", prefix)
	default:
		dir = archiveIn(st)
	}
	return keep, dir
}

// archiveIn is where runs are archived unless a setting says otherwise.
func archiveIn(st string) string { return filepath.Join(st, "archive") }

// daysOr reads a duration, or whole days with a d.
func daysOr(v string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(v, "d"); isDays {
		n, err := strconv.Atoi(days)
		return time.Duration(min(n, 100*365)) * 24 * time.Hour, err
	}
	return time.ParseDuration(v)
}

// redactAfterDefault is from when on a run may be redacted unless a setting says otherwise.
const redactAfterDefault = 30 * 24 * time.Hour

// redactAfter is how long after its end a run may be redacted.
func (r *settingReader) redactAfter() time.Duration {
	v := r.text("REDACT_AFTER", redactAfterDefault.String())
	after, err := daysOr(v)
	if err != nil || after < 0 {
		r.bad("REDACT_AFTER", "%q is no duration such as 720h or 30d", v)
	}
	return after
}

func (r *settingReader) flag(name string) bool {
	v := r.text(name, "false")
	b, err := strconv.ParseBool(v)
	if err != nil {
		r.bad(name, "%q is neither true nor false", v)
	}
	return b
}

// minBootstrap is the shortest first token that an operator may choose.
const minBootstrap = 32

func (r *settingReader) check(c config) {
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || !validPort(port) {
		r.bad("LISTEN", "%q is no address such as 127.0.0.1:8080", c.Listen)
	}
	if _, port, err := net.SplitHostPort(c.MetricsListen); c.MetricsListen != "" && (err != nil || !validPort(port)) {
		r.bad("METRICS_LISTEN", "%q is no address such as 127.0.0.1:9464", c.MetricsListen)
	}
	if u, err := url.Parse(c.Store); strings.Contains(c.Store, "://") && (!isShared(c.Store) || err != nil || u.Host == "" && u.Query().Get("host") == "") {
		r.bad("STORE", "it is neither a directory nor an address such as postgres://user:password@host/database") // the error leaves out the address, which may contain a password
	}
	visible := func(ch rune) bool { return ch > ' ' && ch < 0x7f }
	if t := c.BootstrapToken; t != "" && (len(t) < minBootstrap || strings.ContainsFunc(t, func(ch rune) bool { return !visible(ch) || ch == ',' })) {
		r.bad("BOOTSTRAP_TOKEN", "it must be at least %d visible ASCII characters without commas", minBootstrap)
	} else if strings.HasPrefix(t, "csn_") && !access.WellFormed(t) { // every request with it would fail at the checksum
		r.bad("BOOTSTRAP_TOKEN", "it begins with csn_ and is not one of ours; a character is wrong, or begin it otherwise")
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		r.bad("PUBLIC_URL", "%q is no http or https address", c.PublicURL)
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		r.bad("TLS_CERT_FILE", "it and %sTLS_KEY_FILE go together", prefix)
	}
	if c.LogFormat != "" && c.LogFormat != "text" && c.LogFormat != "json" {
		r.bad("LOG", "%q is neither text nor json", c.LogFormat)
	}
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}

// unknown reports misspelt settings, which would otherwise be ignored. Variables on the credential
// lists may have any name.
func (r *settingReader) unknown(c config) {
	var names []string
	for name := range r.env {
		if _, known := r.flags[strings.TrimPrefix(name, prefix)]; strings.HasPrefix(name, prefix) && !known &&
			!slices.Contains(c.listed(), name) && !r.isPath(c, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		r.problems = append(r.problems, name+": there is no such setting; see countersign serve --help")
	}
}
