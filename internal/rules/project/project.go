// Package project validates the projects that administrators register: connection,
// authentication and capabilities (specification 2.5, 2.6, 5.2; contract 5). It is
// pure: the server's settings are an argument.
package project

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/precondition"
	"github.com/countersign/countersign/internal/rules/request"
)

// Allowed is what the server's settings let projects use (specification 5.3).
type Allowed struct {
	Origins       []string // normalised
	NotifyOrigins []string // those that notifications may go to, normalised
	Credentials   credential.Lists
	SecretBytes   func(env string) int // of the variable as it is now; 0: it isn't set
}

// Origin reports whether projects may be registered with this base URL.
func (a Allowed) Origin(baseURL string) bool {
	o, err := request.NormalizeOrigin(baseURL)
	return err == nil && slices.Contains(a.Origins, o)
}

// SecretConfigured reports whether each variable that the project names exists
// and isn't empty now; false where it names none.
func (a Allowed) SecretConfigured(p *countersign.Project) bool {
	auths := p.EffectiveAuths()
	return len(auths) > 0 && !slices.ContainsFunc(auths, func(auth countersign.Auth) bool { return !a.SecretIsSet(auth.CredentialEnv) })
}

// SecretIsSet reports whether a variable exists and isn't empty now.
func (a Allowed) SecretIsSet(env string) bool { return a.SecretBytes(env) > 0 }

// WeakSecret reports whether a secret of the project is shorter than it should be.
func (a Allowed) WeakSecret(p *countersign.Project) bool {
	return slices.ContainsFunc(p.EffectiveAuths(), func(auth countersign.Auth) bool {
		return credential.Weak(auth.Type, a.SecretBytes(auth.CredentialEnv))
	})
}

// Validate makes the content of a tenant's project from what was written, or says all
// that is wrong with it: invalid_request, origin_not_allowed or
// credential_not_allowed. The content is none once the meter has come to its end.
func Validate(m *cost.Meter, tenant string, w countersign.ProjectWrite, a Allowed) (countersign.Project, error) {
	var p countersign.Project
	countersign.CopyContent(&p, w)
	problems := connection(&p)
	problems = append(problems, headers(&p)...)
	problems = append(problems, authentication(&p)...)
	problems = append(problems, capabilities(m, &p)...)
	problems = append(problems, CheckAnswerKeys(p.AnswerKeys)...)
	problems = append(problems, settlement(&p)...)
	if m.Over() {
		return p, m.Err()
	}
	if len(problems) > 0 {
		return p, countersign.Refusal(countersign.CodeInvalidRequest, problems...)
	}
	if p.BaseURL != "" && !a.Origin(p.BaseURL) {
		return p, countersign.RefusedAt(countersign.CodeOriginNotAllowed, "baseUrl", "%s is not on the server's list SVC_PLATFORM_CONNECTION_ORIGINS", p.BaseURL)
	}
	for i, u := range Uses(tenant, &p) {
		if _, err := a.Credentials.Judge(u); err != nil {
			return p, NotAllowed(CredentialPath(&p, i), u, err)
		}
	}
	return p, nil
}

// Uses are the credentials that a project of a tenant uses, as it names them.
func Uses(tenant string, p *countersign.Project) (uses []credential.Use) {
	for _, auth := range p.EffectiveAuths() {
		uses = append(uses, credential.Use{Tenant: tenant, Origin: p.BaseURL, Kind: auth.Type, Name: auth.CredentialEnv})
	}
	return uses
}

// NotAllowed says why a credential variable may not be registered, and what the
// operator could do. It names no other tenant.
func NotAllowed(path string, u credential.Use, why error) error {
	if errors.Is(why, credential.ErrNotListed) {
		return countersign.RefusedAt(countersign.CodeCredentialNotAllowed, path, "%s %v of credential variables for %s", u.Name, why, u.Kind)
	}
	return countersign.RefusedAt(countersign.CodeCredentialNotAllowed, path, "%s %v; the operator can list it per tenant: %s/%s, and likewise for each other tenant that uses it", u.Name, why, u.Tenant, u.Name)
}

// CredentialPath is where a project names the i-th of its credentials.
func CredentialPath(p *countersign.Project, i int) string {
	if p.AuthSecretEnv != "" {
		return "authSecretEnv"
	}
	return AuthPath(p, i) + ".credentialEnv"
}

func connection(p *countersign.Project) []countersign.Problem {
	var out []countersign.Problem
	switch {
	case p.BaseURL != "":
		origin, err := request.NormalizeOrigin(p.BaseURL)
		if err != nil {
			out = append(out, problem("baseUrl", err.Error()))
		}
		p.BaseURL = origin
	case p.Adapter == countersign.AdapterHTTPJSON:
		out = append(out, problem("baseUrl", "an HTTP_JSON project needs one, such as https://api.example.com"))
	}
	if p.HealthPath != "" {
		health := countersign.Capability{Name: "health", Method: "GET", Path: p.HealthPath}
		for _, found := range request.CheckCapability(nil, &health) {
			out = append(out, problem("healthPath", found.Message))
		}
		if strings.ContainsAny(p.HealthPath, "{}") {
			out = append(out, problem("healthPath", "it takes no placeholder"))
		}
	}
	return out
}

func capabilities(m *cost.Meter, p *countersign.Project) []countersign.Problem {
	var out []countersign.Problem
	first := map[string]int{}
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		path := fmt.Sprintf("capabilities[%d]", i)
		if j, taken := first[c.Name]; taken {
			out = append(out, problem(path+".name", fmt.Sprintf("%s is the name of capabilities[%d] already", c.Name, j)))
		} else {
			first[c.Name] = i
		}
		m.At(path)
		for _, found := range request.CheckCapability(m, c) {
			out = append(out, problem(join(path, found.Path), found.Message))
		}
		for _, found := range gate.Check(m, c) {
			out = append(out, problem(join(path, found.Path), found.Message))
		}
		for _, found := range budget.Check(c.Budgets, func(input string) bool { return c.InputSchema[input].IsNumber() }) {
			out = append(out, problem(path+".budgets"+found.Path, found.Message))
		}
	}
	return append(append(out, probes(p)...), precondition.Check(m, p)...)
}

// probes must name a GET capability of the same project.
func probes(p *countersign.Project) []countersign.Problem {
	var out []countersign.Problem
	for i, c := range p.Capabilities {
		if c.Probe == "" {
			continue
		}
		if target := p.Capability(c.Probe); target == nil || target.Method != "GET" || target.HasSideEffect() {
			out = append(out, problem(fmt.Sprintf("capabilities[%d].probe", i), c.Probe+" is no GET capability of this project that only reads"))
		}
	}
	return out
}

func problem(path, message string) countersign.Problem {
	return countersign.Problem{Path: path, Code: "invalid", Message: message}
}

func join(path, rest string) string {
	if rest == "" {
		return path
	}
	return path + "." + rest
}
