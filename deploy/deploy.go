// Package deploy holds the configuration that ships with the product, as the binary carries it:
// `countersign files` lists it, prints it and writes it.
package deploy

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.yaml nginx.conf secrets.sh grafana systemd prometheus/prometheus.yaml prometheus/alerts.yaml all:helm
var tree embed.FS

// Purpose is what a file is for, or all files of a folder.
type Purpose struct {
	Name string `json:"name"` // a folder's ends with /
	For  string `json:"for"`
}

// Purposes are all files, in the order in which they are listed.
var Purposes = []Purpose{
	{"compose.embedded.yaml", "one container on the embedded store"},
	{"compose.yaml", "two replicas on one PostgreSQL, behind nginx"},
	{"compose.adapter.yaml", "the adapter beside the container of compose.embedded.yaml"},
	{"secrets.sh", "makes the secrets that the compose files name"},
	{"nginx.conf", "the proxy before several replicas"},
	{"adapter.yaml", "an adapter in front of a form-encoded API, to start from"},
	{"systemd/", "units of the service and the adapter, and their settings"},
	{"prometheus/", "how the service is scraped, and alerts on its figures"},
	{"grafana/", "a dashboard of the same figures"},
	{"helm/", "a chart for Kubernetes"},
}

// Names are the files of a purpose's name, or the one file that has this name.
func Names(name string) (names []string) {
	_ = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error { // an embedded tree can be read
		if err == nil && !d.IsDir() && (path == name || strings.HasPrefix(path, strings.TrimSuffix(name, "/")+"/")) {
			names = append(names, path)
		}
		return err
	})
	slices.Sort(names)
	return names
}

// Read is the content of a file.
func Read(name string) ([]byte, error) { return tree.ReadFile(name) }
