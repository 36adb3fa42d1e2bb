package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var assetFiles embed.FS

// assets serves what pages are made of. They change with the binary only, and the
// address of those that Asset gives with their content's hash.
func assets() http.Handler {
	files := embedded()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, Prefix+"/assets/")
		content, known := files[name]
		if !known {
			http.NotFound(w, r)
			return
		}
		serveAsset(w, r, name, content)
	})
}

func serveAsset(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=300")
	if r.URL.Query().Has("v") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	out := compressed(h, r, content)
	h.Set("Content-Length", strconv.Itoa(len(out)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(out) // a visitor who has gone reads nothing
	}
}

// Asset is the address of an asset; it changes with its content, so that a browser
// may keep it for ever. The manual's pages are made of the same.
func Asset(name string) string {
	if version := versions()[name]; version != "" {
		return Prefix + "/assets/" + name + "?v=" + version
	}
	return Prefix + "/assets/" + name
}

// versions are the beginnings of the assets' hashes, computed once.
var versions = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for name, content := range embedded() {
		sum := sha256.Sum256(content)
		out[name] = hex.EncodeToString(sum[:6])
	}
	return out
})

// embedded are the assets by name.
func embedded() map[string][]byte {
	files := map[string][]byte{}
	entries, err := fs.ReadDir(assetFiles, "assets")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	for _, e := range entries {
		if files[e.Name()], err = assetFiles.ReadFile("assets/" + e.Name()); err != nil {
			panic(err)
		}
	}
	return files
}

// worthIt is the size from which compressing saves more than it costs.
const worthIt = 2 << 10

// compressed is a body as the visitor takes it. Secrets of a page are masked anew
// each time (access.MaskCSRF), so that its size tells nothing.
func compressed(h http.Header, r *http.Request, body []byte) []byte {
	h.Add("Vary", "Accept-Encoding")
	if len(body) < worthIt || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return body
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return body
	}
	if _, err := z.Write(body); err != nil || z.Close() != nil {
		return body
	}
	h.Set("Content-Encoding", "gzip")
	return b.Bytes()
}
