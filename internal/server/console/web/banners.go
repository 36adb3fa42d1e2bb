package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/text"
)

// EndsSoon reports a token that ends soon, and that wasn't renewed.
func EndsSoon(t countersign.Token, now time.Time) bool {
	return t.RevokedAt.IsZero() && t.RenewedAs == "" && now.Before(t.ExpiresAt) && !now.Before(access.EndsSoonAt(t.CreatedAt, t.ExpiresAt))
}

func bannersOf(v *Request) []banner {
	return slices.Concat(rewound(v), brokenGlass(v), stopped(v), openChanges(v), invited(v), expiring(v))
}

// invited is the banner about invitations that the visitor hasn't answered.
func invited(v *Request) []banner {
	list, err := v.Control.Invitations(v.R.Context(), v.Actor)
	if err != nil || len(list) == 0 {
		return nil
	}
	text := "Tenant " + list[0].TenantID + " invites you."
	if len(list) > 1 {
		text = fmt.Sprintf("%d tenants invite you.", len(list))
	}
	return []banner{{Text: text, Href: Prefix + "/settings#tenant", Word: "Answer"}}
}

// expiring is the banner about tokens that expire soon, for administrators.
func expiring(v *Request) []banner {
	page, err := v.Control.Tokens(v.R.Context(), v.Actor, control.List{Limit: 200}, "")
	if err != nil { // the visitor is no administrator
		return nil
	}
	soon, first := 0, ""
	for _, t := range page.Items {
		if EndsSoon(t, v.Now) {
			soon++
			first = t.Name + " expires in " + text.Span(t.ExpiresAt.Sub(v.Now))
		}
	}
	switch soon {
	case 0:
		return nil
	case 1:
		return []banner{{Text: "Token " + first + ".", Href: Prefix + "/access/tokens", Word: "Make a new one"}}
	}
	return []banner{{Text: fmt.Sprintf("%d tokens expire soon.", soon), Href: Prefix + "/access/tokens", Word: "See them"}}
}

// stopped is the banner that stands on every page while LIVE steps are stopped.
func stopped(v *Request) []banner {
	state, err := v.Control.StopState(v.R.Context(), v.Actor)
	if err != nil || !state.Stopped {
		return nil
	}
	stop := state.Stops[0]
	whose := "LIVE steps are stopped"
	if stop.TenantID == countersign.AllTenants {
		whose = "LIVE steps of all tenants are stopped"
	}
	return []banner{{Text: whose + ", " + AgoWord(v, stop.Since) + " by " + text.Called(stop.By, stop.ByName) + ": " + stop.Reason, Href: Prefix + "/settings#stop", Word: "See"}}
}

// rewound is the banner that stands on every page while the audit log is not what a witness has
// cosigned.
func rewound(v *Request) []banner {
	names, err := v.Control.AuditRewound(v.R.Context(), v.Actor)
	if err != nil || len(names) == 0 {
		return nil
	}
	return []banner{{Text: "audit_rewound: the audit log is not what " + strings.Join(names, ", ") + " cosigned. It was cut off, or told anew.", Href: Prefix + "/audit?action=audit.rewound", Word: "See"}}
}

// brokenGlass is the banner that stands on every page for 30 days after weakening was taken away on the
// stopped store.
func brokenGlass(v *Request) []banner {
	settings, err := v.Control.Settings(v.R.Context(), v.Actor)
	if err != nil || settings.BreakGlass == nil {
		return nil
	}
	return []banner{{Text: "Changes that weaken are made by one administrator alone: the operator took the setting away on the stopped store, " + AgoWord(v, settings.BreakGlass.At) + ": " + settings.BreakGlass.Reason, Href: Prefix + "/settings#approvals", Word: "See"}}
}

// openChanges is the banner about changes that several administrators decide, for administrators.
func openChanges(v *Request) []banner {
	open, err := v.Control.OpenChanges(v.R.Context(), v.Actor)
	if err != nil || len(open) == 0 {
		return nil
	}
	text := "A change that weakens waits: " + open[0].Title + "."
	if len(open) > 1 {
		text = fmt.Sprintf("%d changes that weaken wait.", len(open))
	}
	return []banner{{Text: text, Href: Prefix + "/changes", Word: "See"}}
}

// AgoWord is how long ago something was.
func AgoWord(v *Request, t time.Time) string {
	if d := v.Now.Sub(t); d >= time.Second {
		return text.Span(d) + " ago"
	}
	return "just now"
}
