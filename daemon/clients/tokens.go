package clients

import (
	"context"
	"time"

	"heddle/daemon"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// How long a client's token says that it is good, as stock by default: it is renewed for a day at a time, and not beyond
// a week after it was issued.
const (
	tokenRenewal = 24 * time.Hour
	tokenLife    = 7 * tokenRenewal
)

// getDelegationToken issues a token that stands for the caller. Oozie and Azkaban submit only with one. Nobody checks it:
// the port believes the names that clients state.
func (s *service) getDelegationToken(_ context.Context, who daemon.Actor, req *wire.GetDelegationTokenRequest) (*wire.GetDelegationTokenResponse, error) {
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	id := &wire.YARNDelegationTokenIdentifier{
		Owner: &who.User, Renewer: new(req.GetRenewer()), SequenceNumber: new(s.issued.Add(1)),
		IssueDate: new(now.UnixMilli()), MaxDate: new(now.Add(tokenLife).UnixMilli()),
	}
	if who.RealUser != "" {
		id.RealUser = &who.RealUser
	}
	return &wire.GetDelegationTokenResponse{Token: token.Delegation(id, key, "")}, nil // the client fills in the address
}

// renewDelegationToken says until when a token is good. As in stock, only its renewer and the user the daemon runs as may
// renew it.
func (s *service) renewDelegationToken(_ context.Context, who daemon.Actor, req *wire.RenewDelegationTokenRequest) (*wire.RenewDelegationTokenResponse, error) {
	id, err := token.ParseDelegation(req.GetToken().GetIdentifier())
	if err != nil {
		return nil, err
	}
	now := time.Now()
	switch end := time.UnixMilli(id.GetMaxDate()); {
	case end.Before(now):
		return nil, yarnError("%s tried to renew an expired token of %s: it could be renewed until %s; get a new one", who.User, id.GetOwner(), end.UTC().Format(time.RFC3339))
	case id.GetRenewer() == "":
		return nil, deniedError("%s tried to renew a token of %s without a renewer: name one when you get it", who.User, id.GetOwner())
	case who.User != id.GetRenewer() && who.User != s.o.Owner:
		return nil, deniedError("%s tries to renew a token of %s with non-matching renewer %s", who.User, id.GetOwner(), id.GetRenewer())
	}
	until := min(now.Add(tokenRenewal).UnixMilli(), id.GetMaxDate())
	return &wire.RenewDelegationTokenResponse{NewExpiryTime: new(uint64(until))}, nil
}

// cancelDelegationToken changes nothing, because no token is checked. As in stock, only a token's owner and its renewer
// may cancel it.
func (s *service) cancelDelegationToken(_ context.Context, who daemon.Actor, req *wire.CancelDelegationTokenRequest) (*wire.CancelDelegationTokenResponse, error) {
	id, err := token.ParseDelegation(req.GetToken().GetIdentifier())
	if err != nil {
		return nil, err
	}
	if who.User != id.GetOwner() && who.User != id.GetRenewer() {
		return nil, deniedError("%s is not authorized to cancel the token of %s: only %[2]s and its renewer %s are", who.User, id.GetOwner(), id.GetRenewer())
	}
	return &wire.CancelDelegationTokenResponse{}, nil
}
