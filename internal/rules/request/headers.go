package request

import "github.com/countersign/countersign"

// hiddenSecret stands for a secret in what is shown of a header.
const hiddenSecret = "•••"

// AuthHeader is the header that one way to authenticate sets, "" for NONE.
func AuthHeader(a countersign.Auth) string {
	switch a.Type {
	case countersign.AuthHMAC:
		return "X-Runtime-Signature"
	case countersign.AuthBearer, countersign.AuthBasic:
		return "Authorization"
	default:
		return a.HeaderName
	}
}

// headersOf are the headers of a project's calls that no other part of the request shows,
// but for what is secret of them: its own, the user of BASIC, and each that one of several
// ways to authenticate sets. Absent where there are none.
func headersOf(p *countersign.Project) countersign.Value {
	auths := p.EffectiveAuths()
	if len(p.Headers) == 0 && len(auths) < 2 && (len(auths) == 0 || auths[0].Type != countersign.AuthBasic) {
		return countersign.Value{} // as most projects
	}
	shown := make(map[string]countersign.Value, len(p.Headers)+countersign.MaxAuths)
	for name, value := range p.Headers {
		shown[name] = countersign.String(value)
	}
	for _, auth := range auths {
		if auth.Type == countersign.AuthBasic || len(auths) > 1 {
			shown[AuthHeader(auth)] = countersign.String(shownAuth(auth))
		}
	}
	return countersign.ObjectValue(shown)
}

func shownAuth(a countersign.Auth) string {
	switch a.Type {
	case countersign.AuthHMAC:
		return "sha256=" + hiddenSecret
	case countersign.AuthBearer:
		return "Bearer " + hiddenSecret
	case countersign.AuthBasic:
		return "Basic " + a.User + ":" + hiddenSecret
	default:
		return hiddenSecret
	}
}
