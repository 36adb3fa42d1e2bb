package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestEachKeyAndHeaderIsShown by the console and the command line, and each has its fields
// in the console's form.
func TestEachKeyAndHeaderIsShown(t *testing.T) {
	t.Parallel()
	w := keysWorld(t)
	p := threeKeys(w.shop.Origin())
	p["headers"] = doc{"X-Api-Version": "2026-01", "X-Merchant": "marlow: desk"}
	p["capabilities"].([]any)[0].(doc)["expectation"] = doc{"field": "ok", "equals": true, "statusCode": 200}
	w.register(t, shop, harness.With(p, "expectedRevision", 1))

	ada := w.person(t, "ada@example.com", "ADMIN")
	variable := func(name string) string { return ", by the variable <code>" + name + "</code>" }
	says(t, ada.Open("/projects/"+shop), 200, "API key in X-Api-Key"+variable("APP_KEY"), "HMAC-SHA256 signature"+variable(harness.SecretEnv),
		"user desk and a password"+variable("DESK_PASSWORD"), "too short", "X-Api-Version: 2026-01", "X-Merchant: marlow: desk")
	s := shellIn(t, w)
	prints(t, s.command(t, 0, "projects", "show", shop).Out, "API_KEY X-Api-Key APP_KEY, HMAC "+harness.SecretEnv+", BASIC desk DESK_PASSWORD",
		"X-Api-Version: 2026-01, X-Merchant: marlow: desk", "EXPECTS OF FIELD  VALUE  STATUS", "ok                true   200")

	typed := func(more ...string) *harness.Page {
		form := ada.Open("/projects/" + shop + "/edit")
		says(t, form, 200, "Authentication 1 of 3", `name="auth[1].credentialEnv" value="`+harness.SecretEnv+`"`)
		all := append([]string{
			"name", "Shop", "adapter", "HTTP_JSON", "baseUrl", w.shop.Origin(), "healthPath", "/health",
			"auth[0].type", "API_KEY", "auth[0].headerName", "X-Api-Key", "auth[0].credentialEnv", "APP_KEY",
			"auth[1].type", "HMAC", "auth[1].credentialEnv", harness.SecretEnv,
			"auth[2].type", "BASIC", "auth[2].user", "desk", "auth[2].credentialEnv", "DESK_PASSWORD",
		}, more...)
		return ada.Submit("/projects/"+shop+"/edit", sheetFields(form, all...))
	}
	for headers, wrong := range map[string]string{"no colon": "Each line is a name, a colon and a value", "X-A: 1\nX-A: 2": "each name stands once", "Host: x": "Headers.Host: it is reserved"} {
		says(t, typed("headers", headers), 400, wrong)
	}
	says(t, typed("auth[0].type", "BEARER", "auth[0].headerName", ""), 400, "BASIC would set the header Authorization, and so would auth[0] (BEARER)")
	leads(t, typed("auth[2].user", "counter", "headers", "X-Api-Version: 2026-02\r\n\r\nX-Merchant:marlow: desk\r\n"), "/projects/"+shop)
	now := w.Admin.Get("/projects/"+shop).OK(t).Is(t, "auth.2.user", "counter").Is(t, "auth.0.headerName", "X-Api-Key").Is(t, "auth.1.type", "HMAC")
	now.Is(t, "headers", doc{"X-Api-Version": "2026-02", "X-Merchant": "marlow: desk"}).Is(t, "revision", 3)
	if !strings.Contains(now.At("capabilities.0").String(), `"expectation"`) {
		t.Error("the form lost the expectation")
	}
}
