package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/countersign/countersign/internal/tools/sample"
	"github.com/countersign/countersign/receiver"
)

const (
	shopSecretEnv = "SHOP_SIGNING_SECRET" // the variable with the shop's secret
	demoGrace     = "2s"                  // no call of a demo takes longer
)

// open starts the shop and then the service: a service that continues after a kill calls the
// shop at once. If the service fails, the story ends.
func (d *demo) open(ctx context.Context, stop context.CancelCauseFunc) error {
	if err := d.openShop(); err != nil {
		return err
	}
	if err := d.openService(ctx); err != nil {
		return err
	}
	d.serving = make(chan error, 1)
	go func() {
		err := d.service.Run(ctx)
		d.serving <- err
		if err != nil {
			stop(err)
		}
	}()
	var err error
	d.admin, err = d.caller(d.place.kept.AdminToken)
	return err
}

func (d *demo) openShop() (err error) {
	kept := d.place.kept
	if d.answerKey, err = receiver.ParseAnswerKey(kept.AnswerSeed); err != nil {
		return fmt.Errorf("%s is of a demo of another release; take another directory", d.place.file(KeptFile))
	}
	d.shop, err = sample.StartShop(sample.Config{Secret: []byte(kept.Secret), AnswerKey: d.answerKey, Address: kept.ShopAddress, Log: d.place.file(ShopLog), Around: d.Around})
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken, where the shop of %s is registered: end what uses it (another demo?), or take another directory", kept.ShopAddress, d.place.dir)
	}
	return err
}

func (d *demo) openService(ctx context.Context) (err error) {
	kept := d.place.kept
	if d.log, err = os.OpenFile(d.place.file(ServiceLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	d.service, err = d.wiring.Open(ctx, ServiceConfig{
		Store: d.place.file(StoreDir), Token: kept.AdminToken, Origin: d.shop.URL(), SecretEnv: shopSecretEnv, Secret: kept.Secret,
		StopGrace: demoGrace, Log: d.log,
	})
	return err
}

// close stops the service, which may still be calling the shop, and then the shop. The
// context of open has ended before.
func (d *demo) close() error {
	var errs []error
	if d.serving != nil {
		errs = append(errs, <-d.serving)
	}
	if d.service.Close != nil {
		errs = append(errs, d.service.Close())
	}
	if d.shop != nil {
		errs = append(errs, d.shop.Close())
	}
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	return errors.Join(errs...)
}
