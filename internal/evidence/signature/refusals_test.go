package signature

import (
	"strings"
	"testing"
	"time"
)

// TestARefusedSignatureSaysWhy reads each message.
func TestARefusedSignatureSaysWhy(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	p := Parts{Method: "POST", PathAndQuery: "/", Timestamp: "1700000000"}
	good, err := Sign([]byte("secret"), p)
	if err != nil {
		t.Fatal(err)
	}
	broken := p
	broken.RunID = "a\nb"
	_, unsigned := Sign(nil, p)
	_, twoLines := Sign([]byte("secret"), broken)
	for _, test := range []struct {
		err  error
		want string
	}{
		{unsigned, "the secret is empty"},
		{twoLines, "a signed part holds a line break"},
		{Verify([]byte("secret"), p, good, now.Add(time.Hour)), "the timestamp is not Unix seconds within the window around now"},
		{Verify([]byte("secret"), p, strings.Replace(good, "=", "=0", 1), now), "the signature does not match"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("%v\nnot %s", test.err, test.want)
		}
	}
}
