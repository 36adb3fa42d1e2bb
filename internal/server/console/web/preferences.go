package web

import (
	"cmp"
	"net/http"
)

// The two preferences are cookies and not part of the account.
const (
	themeCookie = "countersign-theme"
	keysCookie  = "countersign-keys"
	aYear       = 365 * 24 * 3600
)

func prefer(v *Request, name, path, value string) {
	cookie := &http.Cookie{Name: name, Value: value, Path: path, Secure: v.Secure(), SameSite: http.SameSiteLaxMode, MaxAge: aYear, HttpOnly: true}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.W, cookie)
}

func themeOf(v *Request) string { return Theme(v.R) }

// Theme is the chosen theme, "light" or "dark"; "" follows the system. The manual uses
// it too.
func Theme(r *http.Request) string {
	c, err := r.Cookie(themeCookie)
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}
	return c.Value
}

// keysOn reports whether keyboard shortcuts are on, the default.
func keysOn(v *Request) bool {
	c, err := v.R.Cookie(keysCookie)
	return err != nil || c.Value != "off"
}

// SetTheme keeps the chosen theme in the browser.
func SetTheme(v *Request) (string, error) {
	theme := v.Form("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	prefer(v, themeCookie, "/", theme)
	return Local(v.Form("back")), nil
}

func nextTheme(now string) string { return map[string]string{"": "light", "light": "dark"}[now] }

func themeWord(now string) string { return cmp.Or(now, "as the system") }

// SetKeys turns keyboard shortcuts on or off.
func SetKeys(v *Request) (string, error) {
	prefer(v, keysCookie, Prefix, map[bool]string{true: "off"}[v.Form("keys") == "off"])
	return "/settings", nil
}
