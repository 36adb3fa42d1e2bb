package console

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

func prefer(v *pageRequest, name, path, value string) {
	cookie := &http.Cookie{Name: name, Value: value, Path: path, Secure: v.secure(), SameSite: http.SameSiteLaxMode, MaxAge: aYear, HttpOnly: true}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
}

func themeOf(v *pageRequest) string { return Theme(v.r) }

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
func keysOn(v *pageRequest) bool {
	c, err := v.r.Cookie(keysCookie)
	return err != nil || c.Value != "off"
}

func setTheme(v *pageRequest) (string, error) {
	theme := v.form("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	prefer(v, themeCookie, "/", theme)
	return local(v.form("back")), nil
}

func nextTheme(now string) string { return map[string]string{"": "light", "light": "dark"}[now] }

func themeWord(now string) string { return cmp.Or(now, "as the system") }

func setKeys(v *pageRequest) (string, error) {
	prefer(v, keysCookie, Prefix, map[bool]string{true: "off"}[v.form("keys") == "off"])
	return "/settings", nil
}
