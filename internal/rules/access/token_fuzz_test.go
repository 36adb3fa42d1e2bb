package access

import (
	"math/big"
	"strings"
	"testing"
)

// FuzzToken: what passes for a token is one that FormatToken writes, so that a
// scanner which knows the format finds each, and nothing else costs a look into the
// store; and no neighbour of a token passes.
func FuzzToken(f *testing.F) {
	f.Add(FormatToken([32]byte{7}), 5, byte('0'))
	f.Add("csn_"+strings.Repeat("z", 43)+"000000", 0, byte('c'))
	f.Add("", 0, byte(0))
	f.Add("csn_"+strings.Repeat("é", 24)+"x", 9, byte(0xff))
	f.Fuzz(func(t *testing.T, text string, at int, other byte) {
		body := "csn_" + alphanumeric(text)
		for _, token := range []string{text, body + checksum(body)} {
			if !WellFormed(token) {
				continue
			}
			if again := rebuilt(t, token); again != token {
				t.Fatalf("%q passes; written anew it is %q", token, again)
			}
			i := ((at % len(token)) + len(token)) % len(token)
			if near := token[:i] + string(rune(other)) + token[i+1:]; near != token && WellFormed(near) {
				t.Fatalf("%q passes beside %q", near, token)
			}
		}
	})
}

// alphanumeric makes 43 letters and digits of any text.
func alphanumeric(text string) string {
	out := make([]byte, secretLength)
	for i := range out {
		out[i] = base62[0]
		if i < len(text) {
			out[i] = base62[int(text[i])%len(base62)]
		}
	}
	return string(out)
}

// rebuilt writes a token's number anew. It may be above 256 bits: such a token
// passes here and is nobody's.
func rebuilt(t *testing.T, token string) string {
	t.Helper()
	n := new(big.Int)
	for _, c := range []byte(token[len(tokenPrefix):summedLength]) {
		n.Add(n.Mul(n, big.NewInt(int64(len(base62)))), big.NewInt(int64(strings.IndexByte(base62, c))))
	}
	if n.BitLen() <= 256 {
		var random [32]byte
		return FormatToken([32]byte(n.FillBytes(random[:])))
	}
	body := tokenPrefix + encode(n, secretLength)
	return body + checksum(body)
}
