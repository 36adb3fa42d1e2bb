// Package webtest has requests for tests of what is read of a form.
package webtest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/server/console/web"
)

// Posted is a request with a form's fields, written as a query.
func Posted(t testing.TB, fields string) *web.Request {
	t.Helper()
	form, err := url.ParseQuery(fields)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, web.Prefix+"/", nil)
	r.PostForm = form
	return &web.Request{R: r}
}

// Refused is a form that can't be read, and the whole message beside its field.
type Refused struct {
	Read         func(*web.Request) error
	Fields, Want string
}

// Read reads each form, and compares what is said.
func Read(t *testing.T, all []Refused) {
	t.Helper()
	for _, one := range all {
		if err := one.Read(Posted(t, one.Fields)); err == nil || err.Error() != one.Want {
			t.Errorf("%s\n got %v\nwant %s", one.Fields, err, one.Want)
		}
	}
}
