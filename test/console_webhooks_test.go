package test

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// hookForm are the fields of a webhook's form.
func (l *listening) hookForm(p *harness.Page, path string, typed ...string) url.Values {
	form := sheetFields(p, append([]string{"url", l.ears.Origin() + path, "secretEnv", hookEnv, "reach", "all"}, typed...)...)
	form["events"] = []string{"run.ended", "approval.requested"}
	return form
}

func TestAWebhookIsAddedChangedDisabledAndDeletedByForms(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	ada := l.person(t, "ada@example.com", "ADMIN")
	says(t, ada.Open("/access/webhooks"), 200, "No webhooks yet.", "Add a webhook")
	made := ada.Submit("/access/webhooks/+new", l.hookForm(ada.Open("/access/webhooks/+new"), "/ops", "id", "ops"))
	leads(t, made, "/access/webhooks/ops")
	says(t, made, 200, "Nothing sent yet", hookEnv, l.ears.Origin()+"/ops")
	l.Admin.Get("/webhooks/ops").OK(t).Is(t, "enabled", true).Is(t, "events", []string{"approval.requested", "run.ended"})
	run := l.start(t, l.ready(t, harness.With(planOf(step("refund", "refund", doc{"orderId": "o"})), "mode", "DRY_RUN")))
	l.reaches(t, run, "COMPLETED")
	l.told(t, "/ops", 1)
	harness.Until(t, "the success to be kept", func() bool { return l.Admin.Get("/webhooks/ops").OK(t).At("lastSuccessAt").Exists() })
	says(t, ada.Open("/access/webhooks"), 200, "Delivering")

	changed := l.hookForm(made, "/other", "reach", "some")
	changed["projectIds"] = []string{shop}
	leads(t, ada.Submit("/access/webhooks/ops", changed), "/access/webhooks/ops")
	l.Admin.Get("/webhooks/ops").OK(t).Is(t, "url", l.ears.Origin()+"/other").Is(t, "projectIds", []string{shop}).Is(t, "revision", 2)
	late := ada.Submit("/access/webhooks/ops", l.hookForm(made, "/late"))
	says(t, late, 409, "Overwrite revision 2", l.ears.Origin()+"/late")

	disabled := ada.Submit("/access/webhooks/ops/toggle", sheetFields(ada.Open("/access/webhooks/ops"), "enabled", "false"))
	says(t, disabled, 200, "Disabled", `name="enabled" value="true"`)
	leads(t, ada.Submit("/access/webhooks/ops", l.hookForm(disabled, "/third", "enabled", "true")), "/access/webhooks/ops")
	l.Admin.Get("/webhooks/ops").OK(t).Is(t, "enabled", false).Is(t, "url", l.ears.Origin()+"/third")
	old := ada.Submit("/access/webhooks/ops/toggle", sheetFields(disabled, "enabled", "true"))
	says(t, old, 409, l.ears.Origin()+"/third", "revision_conflict")
	says(t, ada.Submit("/access/webhooks/ops/toggle", sheetFields(old, "enabled", "true")), 200, "Nothing")
	l.Admin.Get("/webhooks/ops").OK(t).Is(t, "enabled", true)

	asked := ada.Open("/access/webhooks/ops/delete")
	says(t, asked, 200, "Nothing more will be sent there.")
	leads(t, ada.Submit("/access/webhooks/ops/delete", sheetFields(asked)), "/access/webhooks")
	l.Admin.Get("/webhooks/ops").Refused(t, "not_found")
}

func TestAWebhooksFormSaysWhatIsWrongAtEachField(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	ada := l.person(t, "ada@example.com", "ADMIN")
	form := ada.Open("/access/webhooks/+new")
	empty := ada.Submit("/access/webhooks/+new", sheetFields(form))
	says(t, empty, 400, `id="id-e"`, `id="url-e"`, `id="secretEnv-e"`, `id="events-e"`, `id="reach-e"`)
	nowhere := ada.Submit("/access/webhooks/+new", l.hookForm(form, "/ops", "id", "ops", "reach", "some"))
	says(t, nowhere, 400, `id="projectIds-e"`, `value="run.ended" checked`)
	elsewhere := l.hookForm(form, "/ops", "id", "ops", "url", "https://elsewhere.example/<b>\u202e")
	says(t, ada.Submit("/access/webhooks/+new", elsewhere), 400, `id="url-e"`, "SVC_PLATFORM_NOTIFY_ORIGINS", `value="https://elsewhere.example/<b>`)
	says(t, ada.Submit("/access/webhooks/+new", l.hookForm(form, "/ops", "id", "ops", "secretEnv", "HOME")), 400, `id="secretEnv-e"`)
	odd := l.hookForm(form, "/ops", "id", "ops")
	odd["events"] = []string{"run.started"}
	says(t, ada.Submit("/access/webhooks/+new", odd), 400, `id="events-e"`)
	l.Admin.Get("/webhooks/ops").Refused(t, "not_found")
	l.Admin.Put("/webhooks/ops", l.hook("/ops")).OK(t)
	says(t, ada.Submit("/access/webhooks/+new", l.hookForm(form, "/mine", "id", "ops")), 400, "There is a webhook ops already")
	l.Admin.Get("/webhooks/ops").OK(t).Is(t, "revision", 1)
}

func TestOnlyAdminsSeeWebhooks(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	l.Admin.Put("/webhooks/ops", l.hook("/secret-path")).OK(t)
	opal := l.person(t, "opal@example.com", "OPERATOR", "APPROVER", "VIEWER")
	for _, path := range []string{"", "/+new", "/ops", "/ops/delete"} {
		says(t, opal.Open("/access/webhooks"+path), 403)
	}
	for path, fields := range map[string][]string{"/+new": {"id", "mine"}, "/ops": {"revision", "1"}, "/ops/toggle": {"revision", "1"}, "/ops/delete": nil} {
		says(t, opal.Submit("/access/webhooks"+path, sheetFields(opal.Open("/settings"), fields...)), 403, "role_required")
	}
	l.Admin.Get("/webhooks/ops").OK(t).Is(t, "revision", 1).Is(t, "enabled", true)
	l.tenantAdmin.Get("/audit?actor=user:opal@example.com&subject=webhook/ops").OK(t).Is(t, "items.0.outcome", "refused: role_required")
	limited := l.Admin.Put("/users/lim@example.com", doc{"roles": []string{"ADMIN"}, "projectIds": []string{shop}})
	limited.OK(t)
	lim := l.NewBrowser()
	lim.SignIn("lim@example.com")
	says(t, lim.Open("/access/webhooks/ops"), 403)
}
