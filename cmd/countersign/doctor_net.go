package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/background/slack"
	"github.com/countersign/countersign/internal/platform/oidc"
	"github.com/countersign/countersign/internal/rules/credential"
)

// reachBound bounds one check of something outside this machine.
const reachBound = 10 * time.Second

// checkService checks whether the service runs at its address, and if not, whether it could.
func checkService(ctx context.Context, cfg config) []finding {
	if health, err := askHealth(ctx, cfg); err == nil {
		if health.Status != "ok" {
			return []finding{bad("service", "see the store and the disk", "it runs and says %s, store %s", health.Status, health.Store)}
		}
		return []finding{fine("service", "runs at %s, release %s", cfg.Listen, health.Version)}
	}
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return []finding{bad("service", "stop what listens there, or set SVC_PLATFORM_LISTEN", "it doesn't answer at %s, and could not listen there: %v", cfg.Listen, err)}
	}
	_ = l.Close()
	return []finding{warn("service", "start it: countersign serve", "it doesn't run; %s is free", cfg.Listen)}
}

func askHealth(ctx context.Context, cfg config) (*client.Health, error) {
	scheme := "http://"
	if cfg.CertFile != "" {
		scheme = "https://"
	}
	host, port, _ := net.SplitHostPort(cfg.Listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	c, err := client.New(client.Config{BaseURL: scheme + net.JoinHostPort(host, port), Retries: -1, Timeout: reachBound})
	if err != nil {
		return nil, err
	}
	return c.Health(ctx)
}

// checkAddress checks how the service is reached from other machines.
func checkAddress(_ context.Context, cfg config) []finding {
	const do = "set SVC_PLATFORM_TLS_CERT_FILE and _TLS_KEY_FILE, or an https SVC_PLATFORM_PUBLIC_URL with a proxy in front"
	switch {
	case exposed(cfg.Listen) && cfg.CertFile == "" && !strings.HasPrefix(cfg.PublicURL, "https://"):
		return []finding{bad("address", do, "tokens travel readable to %s", cfg.Listen)}
	case cfg.PublicURL == "" && exposed(cfg.Listen):
		return []finding{warn("address", "set SVC_PLATFORM_PUBLIC_URL: links in mails and cookies are made of it", "no public address")}
	}
	return []finding{fine("address", "%s", strings.TrimSpace(cfg.Listen+" "+cfg.PublicURL))}
}

// fewDays is the remaining lifetime at which a certificate should have been renewed.
const fewDays = 14 * 24 * time.Hour

func checkCertificate(_ context.Context, cfg config) []finding {
	if cfg.CertFile == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
	if err != nil {
		return []finding{bad("certificate", "give a certificate and its key as PEM files", "%v", err)}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	switch {
	case err != nil:
		return []finding{bad("certificate", "give another", "%v", err)}
	case time.Until(leaf.NotAfter) < 0:
		return []finding{bad("certificate", "renew its files; the service takes them at once", "it ended at %s", leaf.NotAfter.UTC().Format(time.RFC3339))}
	case time.Until(leaf.NotAfter) < fewDays:
		return []finding{warn("certificate", "renew its files; the service takes them at once", "it ends at %s", leaf.NotAfter.UTC().Format(time.RFC3339))}
	}
	return []finding{fine("certificate", "good until %s", leaf.NotAfter.UTC().Format(time.RFC3339))}
}

// checkCredentials checks that the variables that projects may name are set. It shows nothing of
// their values.
func checkCredentials(_ context.Context, cfg config) (found []finding) {
	for _, name := range cfg.listed() {
		switch v, err := cfg.Secrets.Look(name); {
		case err != nil:
			found = append(found, bad("credential", "let the service read it; LIVE calls that need it fail until then", "%s_FILE: %v", name, err))
		case v == "":
			found = append(found, bad("credential", "set it where the service is started; LIVE calls that need it fail until then", "%s is listed and not set", name))
		case len(v) < credential.LeastOther:
			found = append(found, warn("credential", "use a longer one, 32 random bytes say", "%s is shorter than %d bytes", name, credential.LeastOther))
		default:
			found = append(found, fine("credential", "%s is set%s", name, readAtEachUse(cfg, name)))
		}
	}
	return found
}

// readAtEachUse marks the credentials that rotate without a restart.
func readAtEachUse(cfg config, name string) string {
	if path := cfg.Secrets.Path(name); path != "" {
		return ", by the file " + path + ", which is read at each use"
	}
	return ""
}

// checkOrigins connects to each origin that projects may be registered with, and sends no request.
func checkOrigins(ctx context.Context, cfg config) (found []finding) {
	if len(cfg.Origins) == 0 {
		return []finding{warn("origins", "list them in SVC_PLATFORM_CONNECTION_ORIGINS", "none: no project with an address can be registered")}
	}
	for _, origin := range cfg.Origins {
		if err := connects(ctx, origin); err != nil {
			found = append(found, warn("origin", "look at its name, the network and its certificate", "%s can't be reached: %v", origin, err))
			continue
		}
		found = append(found, fine("origin", "%s can be reached", origin))
	}
	return found
}

func connects(ctx context.Context, origin string) error {
	ctx, cancel := context.WithTimeout(ctx, reachBound)
	defer cancel()
	u, err := url.Parse(origin)
	if err != nil {
		return err
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	dial := (&net.Dialer{}).DialContext
	if u.Scheme == "https" {
		dial = (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}).DialContext
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func checkMail(ctx context.Context, cfg config) []finding {
	if cfg.Mail == nil {
		return []finding{warn("mail", "set SVC_PLATFORM_SMTP_URL, unless people sign in by an identity provider", "no mail server: sign-in codes go to the log, and approvers get no mails")}
	}
	if err := cfg.Mail.Reach(ctx); err != nil {
		return []finding{bad("mail", "correct SVC_PLATFORM_SMTP_URL, or look at the mail server", "%v", err)}
	}
	return []finding{fine("mail", "the mail server accepts us; mails come from %s", cfg.Mail.From())}
}

// checkSlack asks Slack whether the tokens are good. Nothing is posted.
func checkSlack(ctx context.Context, cfg config) []finding {
	if cfg.Slack == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reachBound)
	defer cancel()
	found, err := slack.New(slack.Config{URL: cfg.Slack.URL, AppToken: cfg.Slack.AppToken, BotToken: cfg.Slack.BotToken}).Check(ctx)
	switch {
	case err != nil:
		return []finding{bad("slack", "correct SVC_PLATFORM_SLACK_APP_TOKEN or SVC_PLATFORM_SLACK_BOT_TOKEN, turn Socket Mode on for the app, or look at the network", "%v", err)}
	case len(found.Missing) > 0:
		return []finding{bad("slack", "add the scopes to the app and install it again", "the bot token lacks %s", strings.Join(found.Missing, ", "))}
	}
	return []finding{fine("slack", "both tokens are good; %s of workspace %s posts for %d tenants", found.Bot, found.Team, len(cfg.Slack.Channels))}
}

func checkProvider(ctx context.Context, cfg config) []finding {
	if cfg.OIDC == nil {
		return nil
	}
	provider := *cfg.OIDC
	provider.Now = now
	if err := oidc.New(provider).Reach(ctx); err != nil {
		return []finding{bad("sign-in", "correct SVC_PLATFORM_OIDC_ISSUER, or look at the provider", "%v", err)}
	}
	return []finding{fine("sign-in", "%s describes itself", provider.Issuer)}
}
