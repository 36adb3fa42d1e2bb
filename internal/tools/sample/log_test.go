package sample

import (
	"io"
	"net/http"
	"path/filepath"
	"testing"
)

// TestAShopThatCannotWriteItsLogDoesNothing: a demo's evidence is compared with the log.
func TestAShopThatCannotWriteItsLogDoesNothing(t *testing.T) {
	const want = `{"error":"the shop's log can't be written"}` + "\n"
	shop, err := StartShop(Config{Secret: []byte("secret"), Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	if err := shop.log.file.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := http.Get(shop.URL() + "/health")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusInternalServerError || string(text) != want || len(shop.Received()) > 0 {
		t.Errorf("%d %s, %v", res.StatusCode, text, err)
	}
	_ = res.Body.Close()
	_ = shop.Close() // its log is closed already
}
