package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// owners is a service with two tenants and a receiver for each. Neither may use the other's secret.
type owners struct {
	*harness.Server
	ours, theirs *harness.Receiver
	acme, beta   *harness.Client // with every role in their tenants
}

const (
	keyEnv   = "PAYMENTS_KEY"
	keyValue = "a-secret-of-the-payments-0123456789"
)

// listedFor lists the receivers' secret for these tenants, which share it.
func listedFor(tenants ...string) harness.Setting {
	entries := make([]string, len(tenants))
	for i, id := range tenants {
		entries[i] = id + "/" + harness.SecretEnv
	}
	return harness.Set("SIGNING_ENV_ALLOWLIST", strings.Join(entries, ","))
}

// newOwners lists the variable with these entries; $ours and $theirs are replaced by the receivers' origins.
func newOwners(t *testing.T, entries string, more ...harness.Setting) *owners {
	t.Helper()
	o := &owners{ours: harness.NewReceiver(t), theirs: harness.NewReceiver(t)}
	o.Server = harness.Prepare(t, append([]harness.Setting{
		harness.Set("CONNECTION_ORIGINS", o.ours.Origin()+","+o.theirs.Origin()),
		harness.Set("SIGNING_ENV_ALLOWLIST", o.with(entries)), harness.Env(keyEnv, keyValue),
	}, more...)...)
	o.Restart()
	o.Keep(keyValue)
	o.acme, o.beta = o.tenant(t, "acme"), o.tenant(t, "beta")
	return o
}

// with replaces $ours and $theirs in entries.
func (o *owners) with(entries string) string {
	return strings.NewReplacer("$ours", o.ours.Origin(), "$theirs", o.theirs.Origin()).Replace(entries)
}

func (o *owners) tenant(t *testing.T, id string) *harness.Client {
	t.Helper()
	o.Admin.Put("/tenants/"+id, doc{"name": id}).OK(t)
	made := o.Admin.Post("/tokens", doc{"name": "all", "tenantId": id, "roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
	return o.As(made.At("token").Text())
}

// api is a project at a receiver with this kind of authentication.
func api(r *harness.Receiver, kind string) doc {
	p := harness.With(bare(r.Origin()), "auth", doc{"type": kind, "credentialEnv": keyEnv})
	if kind == "API_KEY" {
		p = harness.With(p, "auth.headerName", "X-Api-Key")
	}
	return p
}

// enabled checks and enables a registered project.
func enabled(t *testing.T, c *harness.Client, id string) {
	t.Helper()
	rev := c.Get("/projects/" + id).OK(t).At("revision").Int()
	c.Post("/projects/"+id+"/health-check", nil).OK(t).Is(t, "healthy", true)
	c.Post("/projects/"+id+"/enable", doc{"expectedRevision": rev}).OK(t)
}

// reads starts a LIVE run of one read and returns it when it has ended.
func (o *owners) reads(t *testing.T, c *harness.Client, project string) (run json) {
	t.Helper()
	model := strings.SplitN(project, "-", 2)[0] + "-m"
	if c.Get("/models/"+model).Status == 404 {
		c.Put("/models/"+model, doc{"document": harness.Model(model)}).OK(t)
	}
	one := doc{"id": "s", "name": "s", "projectId": project, "capability": "read", "expectation": doc{"field": "ok", "equals": true}}
	plan := c.Post("/plans", doc{"name": "p", "modelId": model, "modelRevision": 1, "mode": "LIVE", "steps": []any{one}}).OK(t).Is(t, "status", "READY")
	id := c.Post("/runs", doc{"planId": plan.At("id").Text()}, key()).OK(t).At("id").Text()
	harness.Until(t, "the run to end", func() bool {
		run = c.Get("/runs/" + id).OK(t)
		return run.At("completedAt").Exists()
	})
	return run
}

// TestACredentialBelongsToTheTenantThatRegistersItFirst: no other tenant can send it or sign with it, by a project of any kind or by a
// webhook.
func TestACredentialBelongsToTheTenantThatRegistersItFirst(t *testing.T) {
	t.Parallel()
	ears := harness.NewReceiver(t)
	o := newOwners(t, keyEnv, harness.Set("NOTIFY_ORIGINS", ears.Origin()))
	o.acme.Put("/projects/acme-pay", api(o.ours, "HMAC")).OK(t).Is(t, "secretConfigured", true)
	for _, kind := range []string{"HMAC", "BEARER", "API_KEY"} {
		for _, at := range []*harness.Receiver{o.ours, o.theirs} {
			why := o.beta.Put("/projects/beta-pay", api(at, kind)).Refused(t, "credential_not_allowed", "auth.credentialEnv", "beta/"+keyEnv)
			if strings.Contains(why, "acme") {
				t.Errorf("the refusal names the other tenant: %s", why)
			}
		}
	}
	legacy := harness.With(bare(o.ours.Origin()), "authSecretEnv", keyEnv)
	o.beta.Put("/projects/beta-pay", legacy).Refused(t, "credential_not_allowed", "authSecretEnv")
	hook := doc{"url": ears.Origin() + "/hook", "events": []string{"run.ended"}, "secretEnv": keyEnv}
	o.beta.Put("/webhooks/out", hook).Refused(t, "credential_not_allowed", "secretEnv")
	o.beta.Get("/projects/beta-pay").Refused(t, "not_found")

	o.acme.Put("/webhooks/out", hook).OK(t)
	o.acme.Put("/projects/acme-again", api(o.theirs, "BEARER")).OK(t)
	enabled(t, o.acme, "acme-pay")
	o.ours.On("GET", "/x", harness.Answering(200, `{"ok":true}`))
	o.reads(t, o.acme, "acme-pay").Is(t, "status", "COMPLETED")
}

// TestABindingIsKeptAuditedAndListed, without the value, and only for realm administrators.
func TestABindingIsKeptAuditedAndListed(t *testing.T) {
	t.Parallel()
	o := newOwners(t, keyEnv)
	o.Admin.Get("/credentials").OK(t).Is(t, "total", 0).Is(t, "items", []any{})
	o.acme.Put("/projects/acme-pay", api(o.ours, "HMAC")).OK(t)
	o.acme.Put("/projects/acme-more", api(o.ours, "BEARER")).OK(t)
	o.acme.Put("/projects/acme-old", harness.With(bare(o.ours.Origin()), "authSecretEnv", keyEnv)).OK(t)
	o.Stop()
	o.Restart()
	list := o.Admin.Get("/credentials").OK(t).Is(t, "total", 1)
	list.Is(t, "items.0.name", keyEnv).Is(t, "items.0.tenantId", "acme").Is(t, "items.0.kinds", []string{"BEARER", "HMAC"})
	list.Is(t, "items.0.projects", []string{"acme-more", "acme-old", "acme-pay"})
	instant(t, list, "items.0.since")
	o.acme.Get("/credentials").Refused(t, "role_required")
	o.acme.Do("DELETE", "/credentials/"+keyEnv, doc{"reason": "mine"}).Refused(t, "role_required")

	log := o.Admin.Get("/audit?realm=true&action=credentials.bind").OK(t).Is(t, "total", 1)
	log.Is(t, "items.0.subject", "credential/"+keyEnv).Is(t, "items.0.before", "").Is(t, "items.0.after", "acme")
	log.Has(t, "items.0.reason", "project/acme-pay").Has(t, "items.0.actor", "token:")
	o.acme.Get("/audit?realm=true").Refused(t, "role_required")
}

// TestAFreedCredentialIsSentByNobodyUntilItIsRegisteredAgain: it then belongs to the first tenant that registers it, which may be another
// one.
func TestAFreedCredentialIsSentByNobodyUntilItIsRegisteredAgain(t *testing.T) {
	t.Parallel()
	ears := harness.NewReceiver(t)
	o := newOwners(t, keyEnv, harness.Set("NOTIFY_ORIGINS", ears.Origin()))
	o.ours.On("GET", "/x", harness.Answering(200, `{"ok":true}`))
	o.theirs.On("GET", "/x", harness.Answering(200, `{"ok":true}`))
	o.acme.Put("/projects/acme-pay", api(o.ours, "HMAC")).OK(t)
	enabled(t, o.acme, "acme-pay")
	o.reads(t, o.acme, "acme-pay").Is(t, "status", "COMPLETED")
	sent := len(o.ours.Seen("GET", "/x"))
	o.acme.Put("/webhooks/out", doc{"url": ears.Origin() + "/hook", "events": []string{"run.ended"}, "secretEnv": keyEnv}).OK(t)

	o.Admin.Do("DELETE", "/credentials/"+keyEnv, doc{"reason": " "}).Refused(t, "invalid_request", "reason")
	o.Admin.Do("DELETE", "/credentials/"+keyEnv, doc{"reason": "acme moves"}).OK(t).Is(t, "name", keyEnv).Is(t, "tenantId", "acme")
	o.Admin.Do("DELETE", "/credentials/"+keyEnv, doc{"reason": "twice"}).Refused(t, "not_found")
	o.Admin.Get("/audit?realm=true&action=credentials.free").OK(t).Is(t, "total", 1).Is(t, "items.0.before", "acme").Is(t, "items.0.reason", "acme moves")
	o.reads(t, o.acme, "acme-pay").Is(t, "status", "FAILED").Is(t, "steps.0.error.code", "not_sent").Has(t, "steps.0.error.message", keyEnv)
	o.acme.Post("/projects/acme-pay/health-check", nil).OK(t).Is(t, "healthy", false).Has(t, "error", keyEnv)

	harness.Until(t, "the notification to be held back or sent", func() bool {
		return o.acme.Get("/webhooks/out").OK(t).At("lastError").Text() != "" || len(ears.Seen("POST", "/hook")) > 0
	})
	o.acme.Get("/webhooks/out").OK(t).Has(t, "lastError", keyEnv+" belongs to no tenant")

	o.beta.Put("/projects/beta-pay", api(o.theirs, "BEARER")).OK(t)
	enabled(t, o.beta, "beta-pay")
	o.reads(t, o.beta, "beta-pay").Is(t, "status", "COMPLETED")
	o.reads(t, o.acme, "acme-pay").Is(t, "steps.0.error.code", "not_sent")
	o.acme.Put("/projects/acme-pay", harness.With(api(o.ours, "HMAC"), "expectedRevision", 1)).Refused(t, "credential_not_allowed")
	if n := len(o.ours.Seen("GET", "/x")); n != sent {
		t.Errorf("%d calls of a tenant that had lost its credential", n-sent)
	}
	if n := len(ears.Seen("POST", "/hook")); n != 0 {
		t.Errorf("%d notifications", n)
	}
}

// TestAnEntryMayNameTenantAndOrigin: other tenants and origins are then refused.
func TestAnEntryMayNameTenantAndOrigin(t *testing.T) {
	t.Parallel()
	for entries, allowed := range map[string][]string{
		"acme/" + keyEnv:                                        {"acme ours", "acme theirs"},
		"acme/" + keyEnv + ",beta/" + keyEnv:                    {"acme ours", "acme theirs", "beta ours", "beta theirs"},
		"acme/" + keyEnv + "@$ours,beta/" + keyEnv + "@$theirs": {"acme ours", "beta theirs"},
		keyEnv + "@$theirs":                                     {"acme theirs"}, // then it is acme's
		keyEnv + "," + "beta/" + keyEnv:                         {"beta ours", "beta theirs"},
		keyEnv + "@$ours," + "beta/" + keyEnv + "@$theirs":      {"acme ours", "beta theirs"},
	} {
		t.Run(entries, func(t *testing.T) {
			t.Parallel()
			o := newOwners(t, entries)
			got := []string{}
			for _, tenant := range []string{"acme", "beta"} {
				for _, at := range []string{"ours", "theirs"} {
					c, r := map[string]*harness.Client{"acme": o.acme, "beta": o.beta}[tenant], map[string]*harness.Receiver{"ours": o.ours, "theirs": o.theirs}[at]
					switch a := c.Put("/projects/"+tenant+"-"+at, api(r, "HMAC")); a.Status {
					case 200:
						enabled(t, c, tenant+"-"+at)
						got = append(got, tenant+" "+at)
					default:
						a.Refused(t, "credential_not_allowed", "auth.credentialEnv")
					}
				}
			}
			if strings.Join(got, ",") != strings.Join(allowed, ",") {
				t.Errorf("%v may register; expected %v", got, allowed)
			}
		})
	}
}

// TestACallIsHeldToTheListsAsTheyAreNow: a call to a project that was registered under other entries is not sent.
func TestACallIsHeldToTheListsAsTheyAreNow(t *testing.T) {
	t.Parallel()
	o := newOwners(t, "acme/"+keyEnv+",beta/"+keyEnv)
	o.ours.On("GET", "/x", harness.Answering(200, `{"ok":true}`))
	o.acme.Put("/projects/acme-pay", api(o.ours, "HMAC")).OK(t)
	o.beta.Put("/projects/beta-pay", api(o.ours, "HMAC")).OK(t)
	enabled(t, o.acme, "acme-pay")
	enabled(t, o.beta, "beta-pay")
	o.Stop()
	o.Restart(harness.Set("SIGNING_ENV_ALLOWLIST", o.with("acme/"+keyEnv+"@$ours")))
	o.reads(t, o.acme, "acme-pay").Is(t, "status", "COMPLETED")
	o.reads(t, o.beta, "beta-pay").Is(t, "steps.0.error.code", "not_sent").Has(t, "steps.0.error.message", keyEnv)
	items := o.Admin.Get("/credentials").OK(t).Is(t, "total", 1)
	items.Is(t, "items.0.tenantId", "acme").Is(t, "items.0.origin", o.ours.Origin()).Is(t, "items.0.projects", []string{"acme-pay"})

	o.Stop()
	o.Restart(harness.Set("SIGNING_ENV_ALLOWLIST", o.with("acme/"+keyEnv+"@$theirs")))
	o.reads(t, o.acme, "acme-pay").Is(t, "steps.0.error.code", "not_sent")
}

// TestAShortSecretIsNamedWhereAnOperatorLooks; it is not refused.
func TestAShortSecretIsNamedWhereAnOperatorLooks(t *testing.T) {
	t.Parallel()
	const tooShort = "31-bytes-0123456789-0123456789."
	o := newOwners(t, keyEnv, harness.Env(keyEnv, tooShort))
	o.acme.Put("/projects/acme-sent", api(o.ours, "BEARER")).OK(t)
	if o.acme.Get("/projects/acme-sent").OK(t).At("weakSecret").Exists() {
		t.Error("a bearer token of 31 bytes is called weak")
	}
	o.acme.Put("/projects/acme-signed", api(o.ours, "HMAC")).OK(t).Is(t, "weakSecret", true)
	o.acme.Get("/projects?limit=10").OK(t).Is(t, "items.1.weakSecret", true)
	enabled(t, o.acme, "acme-signed")
	if log := o.Log(); !strings.Contains(log, "acme-signed") || !strings.Contains(log, "32 bytes") || strings.Contains(log, tooShort) {
		t.Errorf("the log doesn't name it:\n%s", log)
	}
	settings := map[string]string{"SVC_PLATFORM_STORE": o.Settings()["SVC_PLATFORM_STORE"], "SVC_PLATFORM_LISTEN": "127.0.0.1:0", "SVC_PLATFORM_SIGNING_ENV_ALLOWLIST": keyEnv, keyEnv: tooShort}
	for _, when := range []string{"running", "stopped"} {
		if r := harness.Run(t, settings, "doctor"); !strings.Contains(r.Out, "acme-signed") || strings.Contains(r.Out, "acme-sent") || strings.Contains(r.Out+r.Err, tooShort) {
			t.Errorf("%s: %s%s", when, r.Out, r.Err)
		}
		o.Stop()
	}
}

// TestMalformedCredentialEntriesStopTheStart with exit status 2 and a message that names them.
func TestMalformedCredentialEntriesStopTheStart(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"SIGNING", "CREDENTIAL"} {
		for _, entry := range []string{
			"acme/", "/KEY", "a/b/KEY", "ACME/KEY", "a-b/KEY", "acme/9KEY", "KEY@", "KEY@example.com", "KEY@ftp://example.com", "KEY@https://example.com/path",
			"@https://example.com", "KEY@https://a.example@https://b.example", "acme/KEY@https://user@example.com", "acme /KEY", "*",
		} {
			name := "SVC_PLATFORM_" + list + "_ENV_ALLOWLIST"
			r := harness.Run(t, map[string]string{name: "GOOD," + entry, "SVC_PLATFORM_STORE": t.TempDir(), "SVC_PLATFORM_LISTEN": "127.0.0.1:0"}, "serve")
			if r.Status != 2 || !strings.Contains(r.Err, name) || !strings.Contains(r.Err, entry) {
				t.Errorf("%s=%s: status %d\n%s", name, entry, r.Status, r.Err)
			}
		}
	}
}

// TestCredentialsAreListedAndFreedByCommand: the console shows them to realm administrators.
func TestCredentialsAreListedAndFreedByCommand(t *testing.T) {
	t.Parallel()
	o := newOwners(t, keyEnv, harness.Set("ADMIN_EMAIL", "root@example.com"))
	o.acme.Put("/projects/acme-pay", api(o.ours, "HMAC")).OK(t)
	settings := map[string]string{"COUNTERSIGN_URL": o.URL, "COUNTERSIGN_TOKEN": o.Admin.Token()}
	command := func(status int, args ...string) string {
		t.Helper()
		r := harness.Run(t, settings, append([]string{"credentials"}, args...)...)
		if r.Status != status {
			t.Errorf("%v: status %d\n%s%s", args, r.Status, r.Out, r.Err)
		}
		return r.Out + r.Err
	}
	prints(t, command(0, "list"), keyEnv, "acme", "any", "HMAC", "acme-pay")
	b := o.NewBrowser()
	b.SignIn("root@example.com")
	says(t, b.Open("/access/tenants"), 200, "Credentials", keyEnv, "acme-pay")
	prints(t, command(2, "free", keyEnv), "--reason")
	prints(t, command(0, "free", keyEnv, "--reason", "it moves"), "freed "+keyEnv, "acme's", "Nothing is sent any more for acme-pay")
	prints(t, command(3, "free", keyEnv, "--reason", "again"), "not_found")
	says(t, b.Open("/access/tenants"), 200, "No credential is in use.")
}
