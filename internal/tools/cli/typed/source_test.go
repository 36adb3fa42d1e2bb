package typed

import (
	"net/http"
	"net/url"
	"testing"
)

// TestARedirectThatIsRefusedSaysWhatToDo reads each message.
func TestARedirectThatIsRefusedSaysWhatToDo(t *testing.T) {
	request := func(address string) *http.Request {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	here := request("https://a.example/openapi.json")
	for _, test := range []struct {
		err  error
		want string
	}{
		{sameOrigin(request("https://b.example/x"), []*http.Request{here}), "it redirects to https://b.example; name that address if you trust it"},
		{sameOrigin(here, []*http.Request{here, here, here, here, here, here}), "it redirects too often"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", test.err, test.want)
		}
	}
}
