package desk

import (
	"net/http"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

// What a person puts off stands at a place of its own for a day, in this browser alone: nobody
// else's list changes, and nothing about the approval does.
const (
	laterCookie = "countersign-later"
	laterFor    = 24 * 3600 // seconds
	mostLater   = 60
)

// laterOf are the ids of what was put off.
func laterOf(v *web.Request) (ids []string) {
	c, err := v.R.Cookie(laterCookie)
	if err != nil {
		return nil
	}
	for id := range strings.SplitSeq(c.Value, ".") {
		if countersign.ValidID(id) && len(ids) < mostLater {
			ids = append(ids, id)
		}
	}
	return ids
}

// putOff puts one off, or takes it back.
func putOff(v *web.Request) (string, error) {
	q := queryOf(v)
	kind, id, _ := strings.Cut(v.Form("of"), "/")
	ids := laterOf(v)
	at := slices.Index(ids, id)
	back := at >= 0
	switch {
	case back:
		ids = slices.Delete(ids, at, at+1)
	case countersign.ValidID(id) && places[kind] != "" && kind != Change:
		ids = append(ids, id)
	}
	ids = ids[max(0, len(ids)-mostLater):]
	cookie := &http.Cookie{Name: laterCookie, Value: strings.Join(ids, "."), Path: web.Prefix, Secure: v.Secure(), SameSite: http.SameSiteLaxMode, HttpOnly: true, MaxAge: laterFor}
	if len(ids) == 0 {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.W, cookie)
	if back && places[kind] != "" {
		return q.with("in", "").page(kind, id), nil
	}
	return nextOf(v, q), nil
}

// IsLater reports what was put off.
func IsLater(v *web.Request, id string) bool { return slices.Contains(laterOf(v), id) }

// Later is the form that puts one off, or takes it back.
type Later struct {
	Desk     *Rail
	Kind, ID string
	Later    bool
}
