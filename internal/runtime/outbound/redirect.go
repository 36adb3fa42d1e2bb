package outbound

import (
	"net/url"
	"strconv"

	"github.com/countersign/countersign"
)

// maxLocation is how much of a redirect's address is shown.
const maxLocation = 300

// answered says of a status that is no 2xx what can be said of it.
func answered(a answer, secrets masker) string {
	text := "the receiver answered " + strconv.Itoa(a.status)
	if where := leadsTo(a, secrets); where != "" {
		text += ": " + where
	}
	return text
}

// redirected is the cause of a 3xx that leads elsewhere; "" of any other answer.
func redirected(a answer, secrets masker) string {
	where := leadsTo(a, secrets)
	if where == "" {
		return ""
	}
	return "the receiver answered " + strconv.Itoa(a.status) + ", which does not say what happened: " + where
}

// leadsTo says where a redirect leads. Credentials of an address, its query and its
// fragment aren't shown: what is wrong with one is the scheme, the host or the path.
func leadsTo(a answer, secrets masker) string {
	if a.status/100 != 3 || a.location == "" {
		return ""
	}
	u, err := url.Parse(a.location)
	if err != nil {
		return countersign.RedirectLeadsTo + "no address"
	}
	more := u.RawQuery != "" || u.Fragment != ""
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	text := []rune(secrets.without(u.String(), true))
	if len(text) > maxLocation {
		text, more = text[:maxLocation], true
	}
	where := countersign.RedirectLeadsTo + strconv.QuoteToASCII(string(text))
	if more {
		where += " …"
	}
	return where
}
