package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/countersign/countersign/internal/sample"
)

// shopCommand serves the sample shop's API by itself, so that the product can be
// tried by hand against a receiver that shows what it gets.
type shopCommand struct {
	Listen    string `default:"127.0.0.1:9090" help:"Address to listen on."`
	SecretEnv string `default:"SHOP_SECRET" help:"Environment variable that holds the HMAC secret."`
}

func (c *shopCommand) run(ctx context.Context, environ []string, out io.Writer) error {
	secret := environment(environ)[c.SecretEnv]
	if secret == "" {
		return unusable{[]string{c.SecretEnv + ": set it to the secret that the service signs with"}}
	}
	shop, err := sample.StartShop(sample.Config{Secret: []byte(secret), Address: c.Listen, Around: func(h http.Handler) http.Handler {
		return shown(out, h)
	}})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the shop listens on %s; each request it gets is a line here\n", shop.URL())
	<-ctx.Done()
	return shop.Close()
}

// shown writes a line for each request that arrives.
func shown(out io.Writer, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(out, "received %s %s key %s\n", r.Method, r.RequestURI, r.Header.Get("Idempotency-Key"))
		h.ServeHTTP(w, r)
	})
}
