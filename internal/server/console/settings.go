package console

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

func settingRoutes() []route {
	return []route{
		{method: "GET", path: "/settings", page: settingsPage},
		{method: "GET", path: "/more", page: morePage},
		{method: "POST", path: "/settings/stop", act: stopLive},
		{method: "POST", path: "/settings/go", act: letGo},
		{method: "POST", path: "/settings/approvals", act: setDecisionAssertion},
		{method: "POST", path: "/settings/theme", open: true, act: setTheme},
		{method: "POST", path: "/settings/keys", act: setKeys},
		{method: "POST", path: "/settings/tenant", act: switchTenant},
		{method: "POST", path: "/settings/tokens/{id}/confirm", act: confirmToken},
		{method: "POST", path: "/settings/chat/confirm", act: confirmChat},
		{method: "POST", path: "/settings/chat/remove", act: removeChat},
		{method: "POST", path: "/settings/invitations/{tenant}/accept", act: acceptInvitation},
		{method: "POST", path: "/settings/invitations/{tenant}/decline", act: declineInvitation},
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

func settingsPage(v *pageRequest) (*page, error) {
	session, err := v.control.Session(v.r.Context(), v.actor)
	if err != nil {
		return nil, err
	}
	d := settingsData{Session: session}
	if d.Tokens, err = v.control.OwnTokens(v.r.Context(), v.actor); err != nil {
		return nil, err
	}
	if d.Passkeys, err = v.control.Passkeys(v.r.Context(), v.actor); err != nil {
		return nil, err
	}
	d.MayAdd = v.control.MayAddPasskey(v.r.Context(), v.actor) == nil
	if d.Offers, err = v.control.Invitations(v.r.Context(), v.actor); err != nil {
		return nil, err
	}
	if d.Chats, err = v.control.OwnChatAccounts(v.r.Context(), v.actor); err != nil {
		return nil, err
	}
	if d.Approvals, err = v.control.Settings(v.r.Context(), v.actor); err != nil {
		return nil, err
	}
	d.MaySet = access.Allow(v.actor.Principal, access.WriteSettings) == nil
	if d.Stop, err = v.control.StopState(v.r.Context(), v.actor); err != nil {
		return nil, err
	}
	d.MayStop = access.Allow(v.actor.Principal, access.StopTenant) == nil
	d.StopAll = d.MayStop && v.actor.Realm
	return &page{name: "settings", Title: "Settings", Nav: "settings", Crumbs: []crumb{{Word: "Settings"}}, Data: d}, nil
}

// Signed reports a tenant whose approvals are signed with passkeys.
func (d settingsData) Signed() bool {
	return d.Approvals.DecisionAssertion == countersign.DecisionAssertionPasskey
}

func setDecisionAssertion(v *pageRequest) (string, error) {
	_, err := v.control.PutSettings(v.r.Context(), v.actor, countersign.TenantSettingsWrite{
		DecisionAssertion: v.form("assertion"), Reason: v.form("reason"), ExpectedRevision: v.formRevision(),
	})
	return "/settings#approvals", err
}

func acceptInvitation(v *pageRequest) (string, error) {
	return "/settings#tenant", answerInvitation(v, v.control.AcceptInvitation)
}

func declineInvitation(v *pageRequest) (string, error) {
	return "/settings#tenant", answerInvitation(v, v.control.DeclineInvitation)
}

func answerInvitation(v *pageRequest, with func(context.Context, control.Actor, string) error) error {
	tenant := v.r.PathValue("tenant")
	if !countersign.ValidTenantID(tenant) {
		return countersign.Errorf(countersign.CodeNotFound, "there is no such tenant")
	}
	return with(v.r.Context(), v.actor, tenant)
}

func confirmToken(v *pageRequest) (string, error) {
	_, err := v.control.ConfirmToken(v.r.Context(), v.actor, v.r.PathValue("id"))
	return "/settings#tokens", err
}

func confirmChat(v *pageRequest) (string, error) {
	return "/settings#chat", v.control.ConfirmChatAccount(v.r.Context(), v.actor, v.form("service"), v.form("workspace"), v.form("account"))
}

func removeChat(v *pageRequest) (string, error) {
	return "/settings#chat", v.control.RemoveChatAccount(v.r.Context(), v.actor, v.form("service"), v.form("workspace"), v.form("account"))
}

func morePage(*pageRequest) (*page, error) {
	return &page{name: "more", Title: "More", Nav: "more", Crumbs: []crumb{{Word: "More"}}}, nil
}

func switchTenant(v *pageRequest) (string, error) {
	if !countersign.ValidTenantID(v.form("tenant")) {
		return "", countersign.Errorf(countersign.CodeNotFound, "there is no such tenant")
	}
	return "/", v.control.SwitchTenant(v.r.Context(), v.actor, v.form("tenant"))
}

func stopLive(v *pageRequest) (string, error) {
	_, err := v.control.Stop(v.r.Context(), v.actor, countersign.StopWrite{Reason: v.form("reason"), TenantID: v.form("tenant")})
	return "/settings#stop", err
}

func letGo(v *pageRequest) (string, error) {
	_, err := v.control.Go(v.r.Context(), v.actor, countersign.StopWrite{Reason: v.form("reason"), TenantID: v.form("tenant")})
	return "/settings#stop", err
}
