package main

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// browser is somebody's, signed in to the console.
type browser struct {
	origin, cookie string
	routes         *routes
}

// signIn makes a user with a role and signs them in by a link, which needs no mail.
func (p *product) signIn(email string, roles ...string) (*browser, error) {
	admin := &product{base: p.base, token: bootstrap}
	if _, err := admin.must("PUT", "/users/"+email, object{"roles": roles}); err != nil {
		return nil, err
	}
	link, err := admin.must("POST", "/users/"+email+"/sign-in-link", object{})
	if err != nil {
		return nil, err
	}
	cookie, err := p.session(link["url"].(string))
	return &browser{origin: strings.TrimSuffix(p.base, "/v1"), cookie: cookie}, err
}

func (b *browser) request(method, path string, form url.Values) *http.Request {
	q, err := http.NewRequest(method, b.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		panic(err) // can't happen: the paths are ours
	}
	q.Header.Set("Cookie", b.cookie)
	if form != nil {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Origin", b.origin)
	}
	return q
}

// open shows a page; nil if there is none.
func (b *browser) open(name, path string, due time.Time) []byte {
	a, err := b.routes.ask("GET "+name, due, b.request(http.MethodGet, path, nil), http.StatusNotFound) // archived meanwhile
	if err != nil || a.status != http.StatusOK {
		return nil
	}
	return a.body
}

// between are the texts of a page that stand between two others, each once.
func between(page []byte, before, after string) (found []string) {
	known := map[string]bool{}
	for {
		_, rest, is := bytes.Cut(page, []byte(before))
		if !is {
			return found
		}
		text, rest, is := bytes.Cut(rest, []byte(after))
		if !is {
			return found
		}
		if !known[string(text)] {
			known[string(text)], found = true, append(found, string(text))
		}
		page = rest
	}
}
