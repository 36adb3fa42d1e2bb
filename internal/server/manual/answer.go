package manual

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// site is all served content by path.
type site map[string]*content

// content is one page or file. A page has a form for each theme, a file only one.
type content struct {
	status int
	kind   string // Content-Type
	themed bool
	forms  map[string]form // by theme; "" is the system's
}

// form is a response body with its ETag.
type form struct {
	plain, gzip []byte // gzip is nil if it isn't worth it
	tag         string
}

// worthIt is the size from which compressing saves more than it costs.
const worthIt = 2 << 10

func newForm(body []byte, text bool) form {
	sum := sha256.Sum256(body)
	f := form{plain: body, tag: hex.EncodeToString(sum[:12])}
	if !text || len(body) < worthIt {
		return f
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(body)
	}
	if err == nil && z.Close() == nil {
		f.gzip = b.Bytes()
	}
	return f
}

// file is content without themes.
func file(kind string, body []byte) *content {
	text := strings.HasPrefix(kind, "text/") || strings.Contains(kind, "json") || strings.Contains(kind, "svg")
	return &content{status: http.StatusOK, kind: kind, forms: map[string]form{"": newForm(body, text)}}
}

// missing is the key of the not-found page.
const missing = "missing"

func (m *Manual) answer(w http.ResponseWriter, r *http.Request, s site) {
	c := s[r.URL.Path]
	if c == nil {
		c = s[missing]
	}
	theme := ""
	h := w.Header()
	if c.themed {
		theme = m.cfg.Theme(r)
		h.Add("Vary", "Cookie")
	}
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache") // may be cached but must be revalidated: it changes with the binary
	c.send(w, r, c.forms[theme])
}

func (c *content) send(w http.ResponseWriter, r *http.Request, f form) {
	h, body, tag := w.Header(), f.plain, f.tag
	if f.gzip != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body, tag = f.gzip, f.tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", strconv.Quote(tag))
	if c.status == http.StatusOK && known(r, tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", c.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(c.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have disconnected
	}
}

// known reports whether the client has this version.
func known(r *http.Request, tag string) bool {
	tags := strings.Split(r.Header.Get("If-None-Match"), ",")
	return slices.ContainsFunc(tags, func(t string) bool {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		return t == "*" || t == fmt.Sprintf("%q", tag)
	})
}
