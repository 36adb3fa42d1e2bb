package typed

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// ReadSource reads a file, standard input (-) or a URL, at most most bytes. The location is
// nil unless the source is a URL.
func ReadSource(t *terminal.Terminal, source string, most int) ([]byte, *url.URL, error) {
	if IsURL(source) {
		return fetch(t, source, most)
	}
	data, err := ReadFile(t, source, most)
	return data, nil, err
}

// IsURL reports whether a source is an address and no file.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// ReadFile reads a file or standard input (-).
func ReadFile(t *terminal.Terminal, path string, most int) ([]byte, error) {
	in := t.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, terminal.Unusablef("%v", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	return bounded(in, path, most)
}

func bounded(in io.Reader, name string, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	switch {
	case err != nil:
		return nil, terminal.Unusablef("%s: %v", name, err)
	case len(data) > most:
		return nil, terminal.Unusablef("%s: it is larger than %d bytes", name, most)
	}
	return data, nil
}

// fetchTime bounds the download of a document.
const fetchTime = 30 * time.Second

// fetch gets a document over https, or over http from this machine. It follows no redirect
// to another origin, so that the imported document is the one that was named.
func fetch(t *terminal.Terminal, source string, most int) ([]byte, *url.URL, error) {
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !request.IsLoopback(u.Hostname()) {
		return nil, nil, terminal.Unusablef("the document's address must be an https URL without a user (http on this machine alone)")
	}
	shown := u.Scheme + "://" + u.Host + u.EscapedPath()
	request, err := http.NewRequestWithContext(t.Context, http.MethodGet, source, nil)
	if err != nil {
		return nil, nil, terminal.Unusablef("%v", err)
	}
	client := http.Client{Timeout: fetchTime, CheckRedirect: sameOrigin}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, terminal.UnreachableError{Err: fmt.Errorf("%s: %w", shown, cause(err))}
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, nil, terminal.UnreachableError{Err: fmt.Errorf("%s: it answers %d", shown, response.StatusCode)}
	}
	bar := terminal.NewBar(t, "fetching", progressbar.OptionShowBytes(true))
	bar.Set(0, response.ContentLength)
	data, err := bounded(io.TeeReader(response.Body, bar), shown, most)
	bar.Done()
	return data, response.Request.URL, err
}

func sameOrigin(next *http.Request, before []*http.Request) error {
	const most = 5
	from := before[0].URL
	if next.URL.Scheme != from.Scheme || next.URL.Host != from.Host {
		return fmt.Errorf("it redirects to %s://%s; name that address if you trust it", next.URL.Scheme, next.URL.Host)
	}
	if len(before) > most {
		return errors.New("it redirects too often")
	}
	return nil
}

// cause is an error without its URL, whose query may contain a key.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
