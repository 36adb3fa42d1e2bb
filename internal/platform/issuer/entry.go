package issuer

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
)

// Entry is one issuer whose tokens a tenant takes. Where several tenants share an issuer, a
// token's claim says which of them it belongs to.
type Entry struct {
	Tenant, Issuer string
	Claim, Value   string // "" where the issuer is one tenant's
}

// ParseEntry reads `tenant=https://issuer` or `tenant=https://issuer#claim=value`.
func ParseEntry(text string) (e Entry, err error) {
	const form = "write tenant=https://issuer, or tenant=https://issuer#claim=value where tenants share the issuer"
	tenant, rest, ok := strings.Cut(text, "=")
	if !ok {
		return e, errors.New(form)
	}
	e.Tenant = tenant
	var claim string
	if e.Issuer, claim, ok = strings.Cut(rest, "#"); ok {
		if e.Claim, e.Value, _ = strings.Cut(claim, "="); e.Claim == "" || e.Value == "" {
			return e, errors.New(form)
		}
	}
	if !countersign.ValidTenantID(e.Tenant) {
		return e, fmt.Errorf("%q is no id of a tenant; %s", e.Tenant, form)
	}
	return e, CheckAddress(e.Issuer)
}

// CheckAddress returns nil for an address that may be an issuer's.
func CheckAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Hostname() == "", u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "", strings.ContainsAny(address, "# \t"):
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return errors.New("the issuer is no https address such as https://id.example.com; plain http is for one on this machine")
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// CheckEntries returns what is wrong with a list as a whole: an issuer that is listed twice
// belongs to nobody unless each of its entries has a claim of its own.
func CheckEntries(entries []Entry) error {
	seen := map[Entry]bool{}
	of := map[string]Entry{}
	for _, e := range entries {
		key := Entry{Issuer: e.Issuer, Claim: e.Claim, Value: e.Value}
		other, twice := of[e.Issuer]
		switch {
		case seen[key] && e.Claim != "":
			return fmt.Errorf("%s#%s=%s is listed twice", e.Issuer, e.Claim, e.Value)
		case twice && (e.Claim == "" || other.Claim == ""):
			return fmt.Errorf("%s is listed twice; where tenants share an issuer, each entry says by #claim=value which tokens are its tenant's", e.Issuer)
		}
		seen[key], of[e.Issuer] = true, e
	}
	return nil
}
