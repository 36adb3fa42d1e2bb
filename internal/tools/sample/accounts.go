package sample

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"

	"github.com/countersign/countersign"
)

// CustomerAccount is the shop's one account of a customer. Once its basket is full, the customer
// pays for it before anybody looks at the account again.
const CustomerAccount = "C-2207"

// In cents.
const (
	paidIn = 80_00 // into the account
	basket = 45_00
)

type account struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Balance  countersign.Value `json:"balance"`
	Currency string            `json:"currency"`
}

// payout is a payout that was made; Key is as in refund.
type payout struct {
	ID        string            `json:"id"`
	AccountID string            `json:"accountId"`
	Amount    countersign.Value `json:"amount"`
	Currency  string            `json:"currency"`
	Status    string            `json:"status"`
	Key       string            `json:"key"`
}

// basketPath and byCustomer are of the one request that isn't the service's.
const (
	basketPath = "/accounts/" + CustomerAccount + "/basket"
	byCustomer = "the customer's own"
)

// FillBasket has the customer buy something: it is paid for out of the account, once, however
// often it is called.
func (s *Shop) FillBasket() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent() > 0 {
		return nil
	}
	return s.write(Entry{At: s.cfg.Now().UTC(), Method: http.MethodPost, Path: basketPath, Signature: byCustomer, Status: http.StatusOK})
}

// spent is what the customer has paid for.
func (s *Shop) spent() int64 {
	for _, e := range s.entries {
		if e.Path == basketPath && e.Signature == byCustomer {
			return basket
		}
	}
	return 0
}

func (s *Shop) balance() int64 {
	left := paidIn - s.spent()
	for _, p := range s.payouts() {
		cents, _ := inCents(p.Amount)
		left -= cents
	}
	return left
}

func (s *Shop) payouts() []payout {
	found := []payout{}
	for _, e := range s.entries {
		var p payout
		if e.Acted() && e.Path == "/accounts/"+CustomerAccount+"/payouts" && json.Unmarshal(e.Answer, &p) == nil {
			found = append(found, p)
		}
	}
	return found
}

var noAccount = refuse(http.StatusNotFound, "there is no such account")

func (s *Shop) readAccount(_ Entry, id string) reply {
	if id != CustomerAccount {
		return noAccount
	}
	cents := s.balance()
	return reply{http.StatusOK, account{id, "open", countersign.RawValue(fmt.Sprintf("%d.%02d", cents/100, cents%100)), "EUR"}}
}

func (s *Shop) listPayouts(_ Entry, id string) reply {
	if id != CustomerAccount {
		return noAccount
	}
	return reply{http.StatusOK, struct {
		AccountID string   `json:"accountId"`
		Payouts   []payout `json:"payouts"`
	}{id, s.payouts()}}
}

func (s *Shop) payOut(e Entry, id string) reply {
	var asked payout
	if json.Unmarshal([]byte(e.Body), &asked) != nil || asked.Amount.Kind() != countersign.KindNumber {
		return refuse(http.StatusBadRequest, "a payout is a JSON object with amount and currency")
	}
	cents, whole := inCents(asked.Amount)
	switch {
	case id != CustomerAccount:
		return noAccount
	case asked.Currency != "EUR" || !whole || cents <= 0 || cents > s.balance():
		return refuse(http.StatusUnprocessableEntity, "a payout is more than 0, at most the account's balance, in whole cents and its currency")
	}
	asked.ID, asked.AccountID = fmt.Sprintf("po-%d", len(s.payouts())+1), id
	asked.Status, asked.Key = "succeeded", e.Key
	return reply{http.StatusCreated, asked}
}

// inCents is an amount in cents, and false for one that isn't whole cents.
func inCents(amount countersign.Value) (int64, bool) {
	n, is := new(big.Rat).SetString(amount.Raw())
	if !is {
		return 0, false
	}
	n.Mul(n, big.NewRat(100, 1))
	return n.Num().Int64(), n.IsInt() && n.Num().IsInt64()
}
