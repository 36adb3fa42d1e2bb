package test

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/test/harness"
)

// lookalikes are addresses that look like ada@example.com.
var lookalikes = map[string]string{
	"zero width space":      "ada\u200b@example.com",
	"word joiner":           "a\u2060da@example.com",
	"soft hyphen":           "ada@exam\u00adple.com",
	"right-to-left mark":    "\u200fada@example.com",
	"control character":     "ada\u0085@example.com",
	"hangul filler":         "ada\u3164@example.com",
	"variation selector":    "ada\ufe0f@example.com",
	"grapheme joiner":       "ada\u034f@example.com",
	"tag":                   "ada\U000e0061@example.com",
	"private use":           "ada\ue000@example.com",
	"ogham space":           "ada\u1680@example.com",
	"braille blank":         "ada\u2800@example.com",
	"one Cyrillic letter":   "\u0430da@example.com",
	"one in the domain":     "ada@ex\u0430mple.com",
	"Greek among Latin":     "\u03b1da@example.com",
	"mixed beside a stop":   "ada.m\u0430rlow@example.com",
	"Cyrillic beside digit": "a1\u0430@example.com",
}

func TestAnAddressThatIsTakenForAnotherMakesNoUser(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	s.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	for name, email := range lookalikes {
		t.Run(name, func(t *testing.T) {
			s.Admin.Put("/users/"+url.PathEscape(email), doc{"roles": []string{"VIEWER"}}).Refused(t, "invalid_request", "email")
			s.Admin.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}, "userEmail": email}).Refused(t, "invalid_request", "userEmail")
			s.Admin.Delete("/users/"+url.PathEscape(email)).Refused(t, "not_found")
		})
	}
	s.Admin.Get("/users").OK(t).Is(t, "total", 1)
	for _, email := range []string{"\u0438\u0432\u0430\u043d@example.com", "jos\u00e9@example.com", "\u6771\u4eac\u30bf\u30ef\u30fc@example.jp", "ada@\u043f\u0440\u0438\u043c\u0435\u0440.example"} {
		s.Admin.Put("/users/"+url.PathEscape(email), doc{"roles": []string{"VIEWER"}}).OK(t).Is(t, "email", email)
	}
}

// TestAnAddressThatWasStoredBeforeGoesOn: a user whose address an earlier release stored can sign in, be changed and be removed.
func TestAnAddressThatWasStoredBeforeGoesOn(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Stop()
	st, err := w.openStopped(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	emails := []string{lookalikes["zero width space"], lookalikes["one Cyrillic letter"]}
	err = st.Update(t.Context(), func(tx store.Tx) error {
		for _, email := range emails {
			u := &records.User{User: countersign.User{Email: email, TenantID: "default", Roles: []countersign.Role{countersign.RoleAdmin}, CreatedBy: "system"}}
			if _, err := records.Users.Put(tx, "default", email, u, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if closing := st.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
	w.Restart()
	for _, email := range emails {
		b := w.NewBrowser()
		if p := b.SignIn(email); p.Status != 200 || b.Session() == "" {
			t.Errorf("%q could not sign in: %d", email, p.Status)
		}
		w.Keep(b.Session())
		path := "/users/" + url.PathEscape(email)
		w.Admin.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}, "userEmail": email}).OK(t).Is(t, "userEmail", email)
		w.Admin.Put(path, doc{"roles": []string{"VIEWER"}}).OK(t).Is(t, "email", email)
		w.Admin.Delete(path).OK(t)
		w.Admin.Put(path, doc{"roles": []string{"VIEWER"}}).Refused(t, "invalid_request", "email") // new now
	}
}
