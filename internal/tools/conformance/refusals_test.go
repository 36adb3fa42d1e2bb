package conformance

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestACheckThatCannotBeMadeSaysWhatItNeeds reads each message.
func TestACheckThatCannotBeMadeSaysWhatItNeeds(t *testing.T) {
	for _, test := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Project.Adapter = countersign.AdapterLocalEcho }, "the project's adapter is LOCAL_ECHO: only HTTP_JSON has a receiver"},
		{func(c *Config) { c.Project.BaseURL = "shop" }, "the address must be an HTTP or HTTPS origin such as https://api.example.com"},
		{func(c *Config) { c.Capability = "buy" }, "the project has no capability buy; it has book, entries, blind, close"},
		{func(c *Config) { c.Project.Auth = nil }, "without authentication (NONE) only GET is called"},
		{func(c *Config) { c.Secrets = nil }, "the project authenticates in 1 ways: give as many secrets, not 0"},
		{func(c *Config) { c.Inputs = nil }, "give an input, {} for none"},
		{func(c *Config) { c.Secrets = []string{""} }, "the project authenticates by HMAC: give its secret"},
		{func(c *Config) { c.Other = c.Inputs[0] }, "the other input makes the same request as the first"},
	} {
		cfg := against("http://127.0.0.1:1")
		test.change(&cfg)
		if _, err := New(cfg); err == nil || err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", err, test.want)
		}
	}
}
