package request

import (
	"net/url"
	"strings"
	"testing"
)

func TestNormalizeOrigin(t *testing.T) {
	tests := []struct{ raw, want string }{
		{"https://api.example.com", "https://api.example.com"},
		{"HTTPS://API.Example.COM/", "https://api.example.com"},
		{"https://api.example.com:443", "https://api.example.com"},
		{"https://api.example.com:0443/", "https://api.example.com"},
		{"http://api.example.com:80", "http://api.example.com"},
		{"http://api.example.com:443", "http://api.example.com:443"},
		{"https://api.example.com:80", "https://api.example.com:80"},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"http://localhost:3000/", "http://localhost:3000"},
		{"http://my_service:9", "http://my_service:9"},
		{"http://xn--grsse-kva.example", "http://xn--grsse-kva.example"},
		{"http://a1.0x7f.example", "http://a1.0x7f.example"},
		{"http://[2001:DB8::0:1]:8080", "http://[2001:db8::1]:8080"},
		{"http://[::1]:80/", "http://[::1]"},
		{"http://[0:0:0:0:0:ffff:7f00:1]", "http://[::ffff:127.0.0.1]"},
		{"http://a:65535", "http://a:65535"},
	}
	for _, tt := range tests {
		got, err := NormalizeOrigin(tt.raw)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v; want %s", tt.raw, got, err, tt.want)
		}
		if again, err := NormalizeOrigin(got); err != nil || again != got {
			t.Errorf("%s: normalising %s again gives %s, %v", tt.raw, got, again, err)
		}
	}
}

func TestWhatIsNoOrigin(t *testing.T) {
	for _, raw := range []string{
		"", "/", "api.example.com", "//api.example.com", "https:", "https://", "https:///", "https:api.example.com",
		"ftp://api.example.com", "file:///etc/passwd", "javascript:alert(1)", "local-echo:/x", "ws://a",
		"https://api.example.com/v1", "https://api.example.com//", "https://api.example.com/.", "https://api.example.com?",
		"https://api.example.com?a=b", "https://api.example.com#", "https://api.example.com/#x",
		"https://user@api.example.com", "https://user:pass@api.example.com", "https://@api.example.com",
		"https://api.example.com:", "https://api.example.com:0", "https://api.example.com:65536", "https://api.example.com:x", "https://api.example.com:-1", "https://a:99999999999999999999",
		"https://größe.example", "https://api。example.com", "https://api.example.com ", " https://api.example.com", "https://api.example.com\n", "https://api\t.example.com", "https://a\x00b",
		"https://api%2eexample.com", "https://api.example.com%2f", `https://api.example.com\evil`, `https:\\api.example.com`,
		"https://.example.com", "https://example..com", "https://example.com.", "https://.", "https://a,b", "https://a;b", "https://a'b", "https://a*b", "https://[a]",
		"https://127.1", "https://0x7f.0.0.1", "https://0x7f000001", "https://2130706433", "https://127.0.0.01", "https://127.0.0.1.1", "https://256.1.1.1", "https://a.0x1", "https://1", "https://0x",
		"https://[::1", "https://::1", "https://[127.0.0.1]", "https://[::1%25eth0]", "https://[fe80::1%eth0]", "https://[::g]", "https://[]",
		"https://" + strings.Repeat("a.", 127) + "com",
	} {
		if got, err := NormalizeOrigin(raw); err == nil {
			t.Errorf("%q became %s", raw, got)
		} else if strings.Contains(err.Error(), "pass") {
			t.Errorf("%q shows a password: %v", raw, err)
		}
	}
}

// FuzzNormalizeOrigin: what is accepted is in one form, is an origin and nothing
// else, and means to a URL parser what it says.
func FuzzNormalizeOrigin(f *testing.F) {
	for _, seed := range []string{"https://API.example.com:443/", "http://[::1]:80", "http://127.0.0.1:8080", "http://a_b:1", "http://0x7f.1", "https://u:p@h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := NormalizeOrigin(raw)
		if err != nil {
			if got != "" && !strings.Contains(err.Error(), "port") {
				t.Fatalf("%q: %q with %v", raw, got, err)
			}
			return
		}
		if again, err := NormalizeOrigin(got); err != nil || again != got {
			t.Fatalf("%q: %s is not the one form: %s, %v", raw, got, again, err)
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme+"://"+u.Host != got || u.Hostname() == "" || u.Hostname() != strings.ToLower(u.Hostname()) {
			t.Fatalf("%q: %s is read as %+v", raw, got, u)
		}
		before, err := url.Parse(raw)
		if err != nil || !strings.EqualFold(before.Hostname(), u.Hostname()) && !strings.Contains(raw, "[") || before.User != nil || strings.Trim(before.Path, "/") != "" {
			t.Fatalf("%q and %s are not the same place", raw, got)
		}
	})
}

func TestSplitAddressKeepsTheTargetByteForByte(t *testing.T) {
	for raw, want := range map[string][2]string{
		"https://Hooks.example.com:443/a%20b?c=@d": {"https://hooks.example.com", "/a%20b?c=@d"},
		"https://hooks.example.com":                {"https://hooks.example.com", "/"},
		"https://hooks.example.com?x=y":            {"https://hooks.example.com", "/?x=y"},
		"http://127.0.0.1:8090//x":                 {"http://127.0.0.1:8090", "//x"},
	} {
		origin, target, err := SplitAddress(raw)
		if err != nil || origin != want[0] || target != want[1] {
			t.Errorf("%s: %s %s, %v", raw, origin, target, err)
		}
	}
	for _, raw := range []string{
		"", "/x", "hooks.example.com/x", "ftp://hooks.example.com/", "https://user:pw@hooks.example.com/", "https://a@b/", "https://hooks.example.com/#x",
		"https://hooks.example.com/a b", "https://hooks.example.com/\r\nX: y", `https://hooks.example.com\@evil.example/`, "https://hooks.example.com/ü",
		"https://hooks.example.com/" + strings.Repeat("x", 2048), "://", "https://", "https:///x",
	} {
		if origin, target, err := SplitAddress(raw); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %s %s, %v", raw, origin, target, err)
		}
	}
}
