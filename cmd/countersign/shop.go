package main

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"net/http"

	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/sample"
	"github.com/countersign/countersign/receiver"
)

// shopCommand serves the sample shop's API alone, as a receiver that prints the requests that it
// gets.
type shopCommand struct {
	Listen       string `default:"127.0.0.1:9090" help:"Address to listen on."`
	SecretEnv    string `default:"SHOP_SECRET" help:"Environment variable that holds the HMAC secret."`
	AnswerKeyEnv string `help:"Environment variable that holds the Ed25519 seed, 64 hex digits, by which the shop signs its answers and says below /calls what became of a key. Default: it signs nothing."`
	Log          string `type:"path" help:"File in which the shop keeps what it did. Default: it forgets it when it ends."`
}

// Run serves the shop until it is interrupted.
func (c *shopCommand) Run(t *cli.Terminal) error {
	secret := t.Getenv(c.SecretEnv)
	if secret == "" {
		return cli.Unusablef("%s: set it to the secret that the service signs with", c.SecretEnv)
	}
	key, err := c.answerKey(t)
	if err != nil {
		return err
	}
	shop, err := sample.StartShop(sample.Config{Secret: []byte(secret), Address: c.Listen, AnswerKey: key, Log: c.Log, Around: func(h http.Handler) http.Handler {
		return shown(t.Out, h)
	}})
	if err != nil {
		return err
	}
	if key != nil {
		fmt.Fprintf(t.Out, "it signs its answers: answerKeys [\"%s\"], settlement path %s\n", receiver.AnswerKeyText(key), sample.SettlementPath)
	}
	fmt.Fprintf(t.Out, "the shop listens on %s; each request it gets is a line here\n", shop.URL())
	<-t.Context.Done()
	return shop.Close()
}

// answerKey is the key by which the shop signs, nil for none.
func (c *shopCommand) answerKey(t *cli.Terminal) (ed25519.PrivateKey, error) {
	if c.AnswerKeyEnv == "" {
		return nil, nil
	}
	key, err := receiver.ParseAnswerKey(t.Getenv(c.AnswerKeyEnv))
	if err != nil {
		return nil, cli.Unusablef("%s: set it to the seed of the shop's answer key, 64 hex digits", c.AnswerKeyEnv)
	}
	return key, nil
}

// shown prints a line for each request.
func shown(out io.Writer, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(out, "received %s %s key %s\n", r.Method, r.RequestURI, r.Header.Get("Idempotency-Key"))
		h.ServeHTTP(w, r)
	})
}
