package access

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/web"
)

func settingRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/settings", Page: settingsPage},
		{Method: "GET", Path: "/more", Page: morePage},
		{Method: "POST", Path: "/settings/stop", Act: stopLive},
		{Method: "POST", Path: "/settings/go", Act: letGo},
		{Method: "POST", Path: "/settings/approvals", Act: setDecisionAssertion},
		{Method: "POST", Path: "/settings/theme", Open: true, Act: web.SetTheme},
		{Method: "POST", Path: "/settings/keys", Act: web.SetKeys},
		{Method: "POST", Path: "/settings/tenant", Act: switchTenant},
		{Method: "POST", Path: "/settings/tokens/{id}/confirm", Act: confirmToken},
		{Method: "POST", Path: "/settings/chat/confirm", Act: confirmChat},
		{Method: "POST", Path: "/settings/chat/remove", Act: removeChat},
		{Method: "POST", Path: "/settings/invitations/{tenant}/accept", Act: acceptInvitation},
		{Method: "POST", Path: "/settings/invitations/{tenant}/decline", Act: declineInvitation},
	}
}

// settingsData is the visitor's session, unconfirmed tokens and invitations.
type settingsData struct {
	countersign.Session
	Tokens []control.OwnToken       // tokens that name the visitor
	Offers []countersign.User       // invitations
	Chats  []control.OwnChatAccount // accounts at chat services that have the visitor's address

	Passkeys []control.OwnPasskey
	MayAdd   bool // a passkey: the visitor has just signed in

	Approvals countersign.TenantSettings
	MaySet    bool // the tenant's settings

	Stop    countersign.StopState
	MayStop bool
	StopAll bool // the visitor may stop all tenants
}

func settingsPage(v *web.Request) (*web.Page, error) {
	session, err := v.Control.Session(v.R.Context(), v.Actor)
	if err != nil {
		return nil, err
	}
	d := settingsData{Session: session}
	if d.Tokens, err = v.Control.OwnTokens(v.R.Context(), v.Actor); err != nil {
		return nil, err
	}
	if d.Passkeys, err = v.Control.Passkeys(v.R.Context(), v.Actor); err != nil {
		return nil, err
	}
	d.MayAdd = v.Control.MayAddPasskey(v.R.Context(), v.Actor) == nil
	if d.Offers, err = v.Control.Invitations(v.R.Context(), v.Actor); err != nil {
		return nil, err
	}
	if d.Chats, err = v.Control.OwnChatAccounts(v.R.Context(), v.Actor); err != nil {
		return nil, err
	}
	if d.Approvals, err = v.Control.Settings(v.R.Context(), v.Actor); err != nil {
		return nil, err
	}
	d.MaySet = access.Allow(v.Actor.Principal, access.WriteSettings) == nil
	if d.Stop, err = v.Control.StopState(v.R.Context(), v.Actor); err != nil {
		return nil, err
	}
	d.MayStop = access.Allow(v.Actor.Principal, access.StopTenant) == nil
	d.StopAll = d.MayStop && v.Actor.Realm
	return &web.Page{Name: "settings", Title: "Settings", Nav: "settings", Crumbs: []web.Crumb{{Word: "Settings"}}, Data: d}, nil
}

// Signed reports a tenant whose approvals are signed with passkeys.
func (d settingsData) Signed() bool {
	return d.Approvals.DecisionAssertion == countersign.DecisionAssertionPasskey
}

func setDecisionAssertion(v *web.Request) (string, error) {
	now, err := v.Control.Settings(v.R.Context(), v.Actor)
	if err != nil {
		return "", err
	}
	_, err = v.Control.PutSettings(v.R.Context(), v.Actor, countersign.TenantSettingsWrite{
		DecisionAssertion: v.Form("assertion"), Weakening: now.Weakening, Reason: v.Form("reason"), ExpectedRevision: v.FormRevision(),
	})
	return "/settings#approvals", err
}

func acceptInvitation(v *web.Request) (string, error) {
	return "/settings#tenant", answerInvitation(v, v.Control.AcceptInvitation)
}

func declineInvitation(v *web.Request) (string, error) {
	return "/settings#tenant", answerInvitation(v, v.Control.DeclineInvitation)
}

func answerInvitation(v *web.Request, with func(context.Context, control.Actor, string) error) error {
	tenant := v.R.PathValue("tenant")
	if !countersign.ValidTenantID(tenant) {
		return countersign.Errorf(countersign.CodeNotFound, "there is no such tenant")
	}
	return with(v.R.Context(), v.Actor, tenant)
}

func confirmToken(v *web.Request) (string, error) {
	_, err := v.Control.ConfirmToken(v.R.Context(), v.Actor, v.R.PathValue("id"))
	return "/settings#tokens", err
}

func confirmChat(v *web.Request) (string, error) {
	return "/settings#chat", v.Control.ConfirmChatAccount(v.R.Context(), v.Actor, v.Form("service"), v.Form("workspace"), v.Form("account"))
}

func removeChat(v *web.Request) (string, error) {
	return "/settings#chat", v.Control.RemoveChatAccount(v.R.Context(), v.Actor, v.Form("service"), v.Form("workspace"), v.Form("account"))
}

func morePage(*web.Request) (*web.Page, error) {
	return &web.Page{Name: "more", Title: "More", Nav: "more", Crumbs: []web.Crumb{{Word: "More"}}}, nil
}

func switchTenant(v *web.Request) (string, error) {
	if !countersign.ValidTenantID(v.Form("tenant")) {
		return "", countersign.Errorf(countersign.CodeNotFound, "there is no such tenant")
	}
	return "/", v.Control.SwitchTenant(v.R.Context(), v.Actor, v.Form("tenant"))
}

func stopLive(v *web.Request) (string, error) {
	_, err := v.Control.Stop(v.R.Context(), v.Actor, countersign.StopWrite{Reason: v.Form("reason"), TenantID: v.Form("tenant")})
	return "/settings#stop", err
}

func letGo(v *web.Request) (string, error) {
	_, err := v.Control.Go(v.R.Context(), v.Actor, countersign.StopWrite{Reason: v.Form("reason"), TenantID: v.Form("tenant")})
	return "/settings#stop", err
}
