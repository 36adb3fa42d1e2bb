package web

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

// assets serves style sheets, scripts and images. They change only with the binary;
// [Asset] adds a hash of the content to their address.
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
		_, _ = w.Write(out) // the visitor may have disconnected
	}
}

// Asset is the address of an asset. It changes with the content, so that browsers may
// cache it forever. The manual uses the same assets.
func Asset(name string) string {
	if version := versions()[name]; version != "" {
		return Prefix + "/assets/" + name + "?v=" + version
	}
	return Prefix + "/assets/" + name
}

// versions are prefixes of the assets' hashes, computed once.
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

// worthIt is the size in bytes from which a body is compressed.
const worthIt = 2 << 10

// compressed compresses a body if the client accepts gzip. A page's secrets are masked
// anew each time (access.MaskCSRF), so the compressed size reveals nothing about them.
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
