package main

import (
	netmail "net/mail"
	"net/netip"
	"net/url"

	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/platform/mail"
	"github.com/countersign/countersign/internal/platform/oidc"
	"github.com/countersign/countersign/internal/platform/secretfile"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
)

// The settings for signing in, and for mail (contract 3 and 10).

// networks parses addresses and networks.
func (r *settingReader) networks(name string) []netip.Prefix {
	var out []netip.Prefix
	for _, item := range r.list(name) {
		p, err := netip.ParsePrefix(item)
		if addr, alone := netip.ParseAddr(item); err != nil && alone == nil {
			p, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			r.bad(name, "%q is no address and no network such as 10.0.0.0/8", item)
			continue
		}
		out = append(out, p)
	}
	return out
}

// eyes combines the two settings of the four-eyes rule, which must not contradict each other.
func (r *settingReader) eyes() access.Eyes {
	anybody, eyes := r.flag("ALLOW_SELF_APPROVAL"), access.Eyes(r.text("FOUR_EYES", string(access.EyesOfPrincipals)))
	switch {
	case eyes != access.EyesOfPrincipals && eyes != access.EyesOfPeople:
		r.bad("FOUR_EYES", "%q is neither principals nor people", eyes)
	case anybody && eyes == access.EyesOfPeople:
		r.bad("FOUR_EYES", "people contradicts %sALLOW_SELF_APPROVAL=true; leave one of them out", prefix)
	case anybody:
		return access.EyesOfAnybody
	}
	return eyes
}

func (r *settingReader) email(name string) string {
	text := r.text(name, "")
	if parsed, err := netmail.ParseAddress(text); text != "" && (err != nil || parsed.Address != text) {
		r.bad(name, "%q is no e-mail address", text)
	}
	return text
}

// mail is the mail server, nil for none. Errors leave out its address, which contains a password.
func (r *settingReader) mail(admin string) *mail.Server {
	address := r.text("SMTP_URL", "")
	if address == "" {
		return nil
	}
	server, err := mail.Parse(address, admin)
	if err != nil {
		r.bad("SMTP_URL", "%v", err)
		return nil
	}
	return server
}

// oidc is the identity provider, nil for none. Its three settings must be given together.
func (r *settingReader) oidc() *oidc.Config {
	c := &oidc.Config{Issuer: r.text("OIDC_ISSUER", ""), ClientID: r.text("OIDC_CLIENT_ID", "")}
	variable := r.text("OIDC_CLIENT_SECRET_ENV", "")
	if c.Issuer == "" && c.ClientID == "" && variable == "" {
		return nil
	}
	if c.Issuer == "" || c.ClientID == "" || variable == "" {
		r.bad("OIDC_ISSUER", "it, %sOIDC_CLIENT_ID and %sOIDC_CLIENT_SECRET_ENV go together", prefix, prefix)
		return nil
	}
	c.ClientSecret = r.clientSecret(variable)
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !request.IsLoopback(u.Hostname())) {
		r.bad("OIDC_ISSUER", "it is no https address such as https://accounts.example.com")
	}
	return c
}

// signInBy is how sessions begin. Where the provider alone begins them, there must be one: nobody
// could come in otherwise.
func (r *settingReader) signInBy(provider *oidc.Config) access.SignInBy {
	by := access.SignInBy(r.text("SIGN_IN", string(access.SignInByAny)))
	switch {
	case by != access.SignInByAny && by != access.SignInByProvider:
		r.bad("SIGN_IN", "%q is neither any nor oidc", by)
	case by == access.SignInByProvider && provider == nil:
		r.bad("SIGN_IN", "with oidc set up the provider, too: %sOIDC_ISSUER, %sOIDC_CLIENT_ID and %sOIDC_CLIENT_SECRET_ENV", prefix, prefix, prefix)
	}
	return by
}

// issuers are those whose tokens agents may sign in with.
func (r *settingReader) issuers() (out []issuer.Entry) {
	for _, item := range r.list("TOKEN_ISSUERS") {
		e, err := issuer.ParseEntry(item)
		if err != nil {
			r.bad("TOKEN_ISSUERS", "%q: %v", item, err)
			continue
		}
		out = append(out, e)
	}
	if err := issuer.CheckEntries(out); err != nil {
		r.bad("TOKEN_ISSUERS", "%v", err)
	}
	return out
}

// clientSecret is the secret of this service at the provider, from the variable that the setting
// names, or from its file, which is read once at the start.
func (r *settingReader) clientSecret(variable string) string {
	source := secretfile.New(r.env, variable)
	if source.Twice(variable) {
		r.twice(variable)
	}
	secret, err := source.Look(variable)
	switch {
	case err != nil:
		r.bad("OIDC_CLIENT_SECRET_ENV", "%v", err)
	case secret == "":
		r.bad("OIDC_CLIENT_SECRET_ENV", "it is the name of the variable that holds the secret; there is no such variable, or it is empty")
	}
	return secret
}
