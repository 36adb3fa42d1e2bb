package access

import (
	"net/url"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The pages of webhooks: where the tenant is told of events, and how that goes. ADMINs
// read and write them. The secret is a variable of the service's environment: no page
// shows or takes it.

func webhookRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/access/webhooks", Page: webhooksPage},
		// no ID contains a plus sign, so this path hides no webhook
		{Method: "GET", Path: "/access/webhooks/+new", Page: newWebhookPage},
		{Method: "POST", Path: "/access/webhooks/+new", Act: makeWebhook},
		{Method: "GET", Path: "/access/webhooks/{id}", Page: webhookPage},
		{Method: "POST", Path: "/access/webhooks/{id}", Act: changeWebhook},
		{Method: "POST", Path: "/access/webhooks/{id}/toggle", Act: toggleWebhook},
		{Method: "GET", Path: "/access/webhooks/{id}/delete", Page: deleteWebhookPage},
		{Method: "POST", Path: "/access/webhooks/{id}/delete", Act: deleteWebhook},
	}
}

func webhooksPage(v *web.Request) (*web.Page, error) {
	return accessList(v, "webhooks", func(l control.List) (countersign.Page[countersign.Webhook], error) {
		return v.Control.Webhooks(v.R.Context(), v.Actor, l)
	})
}

// webhookState says how a webhook's deliveries go.
func webhookState(w countersign.Webhook) text.State {
	switch {
	case !w.Enabled:
		return text.State{Class: "is-idle", Icon: "s-cancelled", Word: "Disabled"}
	case w.SecretIsMissing:
		return text.State{Class: "is-wait", Icon: "s-warn", Word: "Secret not set"}
	case w.LastErrorAt.After(w.LastSuccessAt):
		return text.State{Class: "is-fail", Icon: "s-failed", Word: "Failing"}
	case w.LastSuccessAt.IsZero():
		return text.State{Class: "is-idle", Icon: "s-pending", Word: "Nothing sent yet"}
	}
	return text.State{Class: "is-ok", Icon: "s-completed", Word: "Delivering"}
}

// webhookData is the page of one webhook: how its deliveries go, and its form.
type webhookData struct {
	realm
	countersign.Webhook // zero for a new one
	Fields              []form.Field
	Problem             *web.Problem
	Saves               int64 // the revision that saving replaces
	Over                bool  // revision conflict
}

// eventWords are what the events mean, in the order of the form.
var eventWords = choicesOf(countersign.Events)

func choicesOf(events []countersign.Event) []form.Choice {
	out := make([]form.Choice, len(events))
	for i, e := range events {
		out[i] = form.Choice{Value: e.Name, Word: e.Title, Note: e.Note}
	}
	return out
}

func newWebhookPage(v *web.Request) (*web.Page, error) { return newWebhook(v, nil) }

func newWebhook(v *web.Request, err error) (*web.Page, error) {
	return webhookForm(v, countersign.Webhook{}, err)
}

func webhookPage(v *web.Request) (*web.Page, error) { return storedWebhook(v, nil) }

func storedWebhook(v *web.Request, err error) (*web.Page, error) {
	w, unread := v.Control.Webhook(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	return webhookForm(v, w, err)
}

func webhookForm(v *web.Request, w countersign.Webhook, err error) (*web.Page, error) {
	if err := v.May(access.WriteWebhook); err != nil {
		return nil, err
	}
	return showWebhook(v, w, form.Of(v, err, "")), nil
}

// showWebhook is the page with the form's fields and its problem.
func showWebhook(v *web.Request, w countersign.Webhook, s *form.Form) *web.Page {
	d := webhookData{realm: realmOf(v, "webhooks"), Webhook: w, Over: countersign.ErrorCode(s.Err) == countersign.CodeRevisionConflict}
	d.Saves = web.RevisionReplaced(v, w.Revision, d.Over)
	title := "Webhook " + w.ID
	if w.ID == "" {
		title = "Add a webhook"
		d.Fields = append(d.Fields, form.Must(s.Mono("id", "ID", "Letters, digits, dots, underscores and hyphens. It never changes.", "")))
	}
	d.Fields = append(d.Fields, webhookFields(s, w)...)
	d.Problem = s.Problem()
	return accessPage("webhook", title, d, web.Crumb{Word: "Webhooks", Href: "/access/webhooks"}, web.Crumb{Word: title})
}

// webhookFields are the fields of a webhook, zero for a new one.
func webhookFields(s *form.Form, w countersign.Webhook) []form.Field {
	reach := ""
	if w.ID != "" {
		reach = reachOf(w.ProjectIDs)
	}
	return []form.Field{
		form.Must(s.Mono("url", "Address", "Administrators can read it: don’t put a secret in it. The operator lists the allowed origins in SVC_PLATFORM_NOTIFY_ORIGINS.", w.URL)),
		form.Must(s.Mono("secretEnv", "Environment variable of the signing secret", "Its name, never the secret. The operator sets the variable and lists its name.", w.SecretEnv)),
		form.Must(form.Coded(s.Boxes("events", "Events", "", w.Events, eventWords...))),
		form.Must(s.Choose("radio", "reach", "Projects", "", reach,
			form.Choice{Value: "all", Word: "All projects of the tenant", Note: "Including projects added later."},
			form.Choice{Value: "some", Word: "Only these", Note: "Tick them below."})),
		form.Coded(s.Boxes("projectIds", "Only these projects", "", w.ProjectIDs, projectChoices(s.Request, w.ProjectIDs)...)),
	}
}

// mayWriteWebhook records a refusal in the audit log under the webhook, as for the API.
func mayWriteWebhook(v *web.Request, id string) error {
	return v.Control.Authorize(v.R.Context(), v.Actor, access.WriteWebhook, "webhook/"+id)
}

func makeWebhook(v *web.Request) (string, error) {
	id := v.Form("id")
	if err := mayWriteWebhook(v, id); err != nil {
		return "", err
	}
	err := v.NewID()
	err = web.Together(err, putWebhook(v, id, 0, nil, err == nil))
	err = web.Taken(err, "webhook", id)
	if err == nil {
		return webhookHref(id), nil
	}
	return "", v.FormAgain(err, newWebhook)
}

// changeWebhook saves the form; whether the webhook is enabled stays as it is.
func changeWebhook(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := mayWriteWebhook(v, id); err != nil {
		return "", err
	}
	w, err := v.Control.Webhook(v.R.Context(), v.Actor, id)
	if err != nil {
		return "", err
	}
	if err = putWebhook(v, id, v.FormRevision(), &w.Enabled, true); err == nil {
		return webhookHref(id), nil
	}
	return "", v.FormAgain(err, storedWebhook)
}

func webhookHref(id string) string { return "/access/webhooks/" + url.PathEscape(id) }

// putWebhook checks the form as the API's schema would, and saves it unless another field
// is wrong.
func putWebhook(v *web.Request, id string, revision int64, enabled *bool, save bool) error {
	w := countersign.WebhookWrite{URL: v.Form("url"), SecretEnv: v.Form("secretEnv"), Events: v.R.PostForm["events"], Enabled: enabled, ExpectedRevision: revision}
	var untold, unreached error
	if len(w.Events) == 0 || slices.ContainsFunc(w.Events, func(e string) bool { return !slices.Contains(countersign.WebhookEvents, e) }) {
		untold = web.Invalid("events", "choose at least one")
	}
	switch reach := v.Form("reach"); {
	case reach == "some" && len(v.R.PostForm["projectIds"]) == 0:
		unreached = web.Invalid("projectIds", "choose at least one, or all projects above")
	case reach == "some":
		w.ProjectIDs = v.R.PostForm["projectIds"]
	case reach != "all":
		unreached = web.Invalid("reach", "choose one")
	}
	if err := web.Together(v.Chosen("url", "secretEnv"), untold, unreached); err != nil || !save {
		return err
	}
	_, err := v.Control.PutWebhook(v.R.Context(), v.Actor, id, w)
	return err
}

// toggleWebhook enables or disables the revision that the page showed.
func toggleWebhook(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	if err := mayWriteWebhook(v, id); err != nil {
		return "", err
	}
	w, err := v.Control.Webhook(v.R.Context(), v.Actor, id)
	if err != nil {
		return "", err
	}
	_, err = v.Control.PutWebhook(v.R.Context(), v.Actor, id, countersign.WebhookWrite{
		URL: w.URL, Events: w.Events, SecretEnv: w.SecretEnv, ProjectIDs: w.ProjectIDs, Enabled: new(v.Form("enabled") == "true"), ExpectedRevision: v.FormRevision(),
	})
	if err == nil {
		return webhookHref(id), nil
	}
	return "", web.Answered(showWebhook(v, w, &form.Form{Request: v, Err: err, Stored: true}), err)
}

func deleteWebhookPage(v *web.Request) (*web.Page, error) {
	w, err := v.Control.Webhook(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := webhookData{realm: realmOf(v, "webhooks"), Webhook: w}
	return accessPage("webhook-delete", "Delete "+w.ID, d, web.Crumb{Word: "Webhooks", Href: "/access/webhooks"}, web.Crumb{Word: w.ID, Href: webhookHref(w.ID), ID: true}, web.Crumb{Word: "Delete"}), nil
}

func deleteWebhook(v *web.Request) (string, error) {
	_, err := v.Control.DeleteWebhook(v.R.Context(), v.Actor, v.R.PathValue("id"))
	return "/access/webhooks", err
}
