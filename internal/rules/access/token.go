package access

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"strings"
	"time"
)

// A token is `csn_`, 43 base62 characters that hold 256 bits, and a CRC32 of
// both in 6 base62 characters: the checksum refuses typos before the store is
// asked, and the prefix lets scanners find leaked tokens (contract 3).
const (
	tokenPrefix   = "csn_"
	secretLength  = 43
	summedLength  = len(tokenPrefix) + secretLength
	checksumWidth = 6
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// FormatToken makes the token of 32 random bytes.
func FormatToken(random [32]byte) string {
	body := tokenPrefix + encode(new(big.Int).SetBytes(random[:]), secretLength)
	return body + checksum(body)
}

// TokenNotice is how long before its end a token is said to end soon, where it lives long enough.
const TokenNotice = 14 * 24 * time.Hour

// EndsSoonAt is from when a token counts as one that ends soon: two weeks before, or a quarter of
// its life if that is shorter.
func EndsSoonAt(made, ends time.Time) time.Time {
	return ends.Add(-min(TokenNotice, ends.Sub(made)/4))
}

// WellFormed checks a token's prefix, length, alphabet and checksum. Only a
// well-formed token is looked up in the store.
func WellFormed(token string) bool {
	if len(token) != summedLength+checksumWidth || !strings.HasPrefix(token, tokenPrefix) {
		return false
	}
	for _, c := range token[len(tokenPrefix):] {
		if !strings.ContainsRune(base62, c) {
			return false
		}
	}
	return checksum(token[:summedLength]) == token[summedLength:]
}

// HashToken is the stored form of a token: its SHA-256 in lowercase hex. Tokens have
// 256 random bits, so a plain hash is enough, and a lookup by hash leaks no timing.
func HashToken(token string) string {
	s := sha256.Sum256([]byte(token))
	return hex.EncodeToString(s[:])
}

func checksum(body string) string {
	return encode(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), checksumWidth)
}

func encode(n *big.Int, width int) string {
	out := make([]byte, width)
	radix, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, radix, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}
