package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/sample"
)

// shopCommand serves the sample shop's API alone, as a receiver that prints the requests that it
// gets.
type shopCommand struct {
	Listen    string `default:"127.0.0.1:9090" help:"Address to listen on."`
	SecretEnv string `default:"SHOP_SECRET" help:"Environment variable that holds the HMAC secret."`
}

// Run serves the shop until it is interrupted.
func (c *shopCommand) Run(t *cli.Terminal) error {
	secret := t.Getenv(c.SecretEnv)
	if secret == "" {
		return cli.Unusablef("%s: set it to the secret that the service signs with", c.SecretEnv)
	}
	shop, err := sample.StartShop(sample.Config{Secret: []byte(secret), Address: c.Listen, Around: func(h http.Handler) http.Handler {
		return shown(t.Out, h)
	}})
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "the shop listens on %s; each request it gets is a line here\n", shop.URL())
	<-t.Context.Done()
	return shop.Close()
}

// shown prints a line for each request.
func shown(out io.Writer, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(out, "received %s %s key %s\n", r.Method, r.RequestURI, r.Header.Get("Idempotency-Key"))
		h.ServeHTTP(w, r)
	})
}
