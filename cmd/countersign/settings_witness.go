package main

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// witnesses are those that cosign the audit logs: "url vkey", separated by commas.
func (r *settingReader) witnesses() (out []witnessing.Witness) {
	const name = "WITNESSES"
	for _, item := range r.list(name) {
		address, vkey, _ := strings.Cut(item, " ")
		u, err := url.Parse(address)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			r.bad(name, "%q does not begin with the http or https URL of a witness, without user, query and fragment; each entry is URL, a space, and VKEY", item)
			continue
		}
		key, err := checkpoint.ParseWitnessKey(strings.TrimSpace(vkey))
		if err != nil {
			r.bad(name, "%q: %v", item, err)
			continue
		}
		w := witnessing.Witness{URL: strings.TrimSuffix(address, "/"), Key: key}
		for _, other := range out {
			if other.Key.String() == key.String() {
				r.bad(name, "%s stands twice", key.Name())
			}
		}
		out = append(out, w)
	}
	return out
}

// Bounds of a submission to a witness.
const (
	witnessAnswersIn = 10 * time.Second
	witnessIdle      = 2 * time.Minute
)

// witnessClient makes submissions. It follows no redirects and uses no proxy.
func witnessClient() *http.Client {
	return &http.Client{
		Timeout:       witnessAnswersIn,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, MaxConnsPerHost: 4, MaxIdleConnsPerHost: 4,
			IdleConnTimeout: witnessIdle, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
		},
	}
}
