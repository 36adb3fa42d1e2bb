package sample

import (
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/receiver"
)

// TestTheShopsLogIsNeverRestored: it says so where the receiver kit asks for a restore.
func TestTheShopsLogIsNeverRestored(t *testing.T) {
	if err := receiver.Restored(t.Context(), &memory{}); err == nil || err.Error() != "the shop's log is kept once, and never restored" {
		t.Errorf("got %v", err)
	}
}

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
