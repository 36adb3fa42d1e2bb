package importer

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/rules/request"
)

// server is the server of operations: the origin for the project's baseUrl, and the prefix of
// the operations' paths.
type server struct{ origin, prefix string }

// base has the server of the proposal and the corresponding server of the document. They
// differ if the caller gives another one, such as a test system or a proxy.
type base struct{ proposed, documented server }

// chooseBase takes the caller's base URL, else the document's first server.
func (d *Document) chooseBase(baseURL string, location *url.URL) (base, error) {
	documented, err := serverOf(d.server(), location)
	if baseURL == "" {
		if err != nil {
			return base{}, fmt.Errorf("servers[0]: %w; name the server with --base-url", err)
		}
		return base{documented, documented}, nil
	}
	named, err := parseServer(baseURL, nil)
	if err != nil {
		return base{}, fmt.Errorf("--base-url: %w", err)
	}
	if named.prefix == "" {
		named.prefix = documented.prefix
	}
	if strings.Contains(named.prefix, "{") {
		return base{}, fmt.Errorf("servers[0]: %s has a variable without a value in its path; name the server with its path, as --base-url https://api.example.com/v1", quoted(d.server().at("url").text()))
	}
	return base{named, documented}, nil
}

// serverFor is the server of an operation: of the operation's own servers the one with the
// project's origin.
func (b base) serverFor(o operation) (server, *refusal) {
	own := o.at("servers").list()
	if len(own) == 0 {
		own = o.item.at("servers").list()
	}
	if len(own) == 0 {
		return b.proposed, nil
	}
	first := ""
	for _, n := range own {
		s, err := serverOf(n, nil)
		if err == nil && s == b.documented || n.at("url").text() == o.doc.server().at("url").text() {
			return b.proposed, nil
		}
		if errors.Is(err, errNoHost) {
			return server{b.proposed.origin, s.prefix}, nil
		}
		if err == nil && (s.origin == b.documented.origin || s.origin == b.proposed.origin) {
			return server{b.proposed.origin, s.prefix}, nil
		}
		if first == "" {
			first = n.at("url").text()
		}
	}
	return server{}, refuse(OtherServer, "it is on %s; a project has one origin, so import it as another project with --base-url and --include", quoted(first))
}

// serverOf reads a server object, with the default values of its variables.
func serverOf(n node, location *url.URL) (server, error) {
	text := n.at("url").text()
	if !n.doc.spend(1+len(text)) || len(text) > 2000 {
		return server{}, errors.New("its URL is longer than 2000 bytes")
	}
	variables := n.at("variables")
	text = placeholder.ReplaceAllStringFunc(text, func(whole string) string {
		if v := variables.at(whole[1 : len(whole)-1]).at("default").text(); v != "" {
			return short(v, 200)
		}
		return whole
	})
	return parseServer(text, location)
}

// server is the document's first server. Swagger has it in three parts.
func (d *Document) server() node {
	if !d.swagger {
		return d.top().at("servers").first()
	}
	host, scheme := d.top().at("host").text(), "https"
	if schemes := d.top().at("schemes").texts(); len(schemes) > 0 && !slices.Contains(schemes, "https") {
		scheme = schemes[0]
	}
	if host != "" {
		host = scheme + "://" + host
	}
	return node{d, d.main, object{{"url", host + d.top().at("basePath").text()}}}
}

var errNoHost = errors.New("it names no host")

// authority is what stands before the path of a URL, a variable in it or not.
var authority = regexp.MustCompile(`^(?:[^/?#]*:)?//[^/?#]*`)

// prefixOf is the path of a server's URL, which is the API's whatever else is wrong with it.
func prefixOf(text string) string {
	text = authority.ReplaceAllString(text, "")
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	if text = strings.Trim(text, "/"); text == "" {
		return ""
	}
	return path.Clean("/" + text)
}

// parseServer parses a URL, which may be relative to the document's location. The prefix is
// there also beside an error.
func parseServer(text string, location *url.URL) (server, error) {
	prefix := prefixOf(text)
	u, err := url.Parse(text)
	if err != nil {
		return server{prefix: prefix}, errors.New("it is no URL")
	}
	if u.Host == "" && location != nil {
		u = location.ResolveReference(u)
		prefix = strings.TrimRight(u.EscapedPath(), "/")
	}
	switch {
	case u.Host == "":
		return server{prefix: prefix}, errNoHost
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return server{prefix: prefix}, errors.New("it must be an origin and a path, no more")
	case u.Scheme != "https" && (u.Scheme != "http" || !request.IsLoopback(u.Hostname())):
		return server{prefix: prefix}, errors.New("it must be https (http on this machine alone)")
	}
	origin, err := request.NormalizeOrigin(u.Scheme + "://" + u.Host)
	if err != nil {
		return server{prefix: prefix}, fmt.Errorf("it %w", err)
	}
	return server{origin, prefix}, nil
}
