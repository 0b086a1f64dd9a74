package rpc

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

// The only way to authenticate with a token.
const (
	methodToken     = "TOKEN"
	mechanismDigest = "DIGEST-MD5"
)

// A saslServer is the SASL exchange of one connection. The first response uses up its nonce, right or wrong.
type saslServer struct {
	verifier Verifier // nil: the answer is that there is nothing to negotiate
	nonce    string
	offered  bool // the client was told what is available
	started  bool // the client chose the token, and was sent the challenge in a separate answer
	done     bool
	user     string
	identity any
}

// newSASLServer begins an exchange.
func newSASLServer(v Verifier) *saslServer {
	s := &saslServer{verifier: v}
	if v != nil {
		s.nonce = newNonce()
	}
	return s
}

// negotiate processes a SASL message and answers it.
func (c *conn) negotiate(to echo, b []byte) error {
	if c.sasl == nil {
		return c.disorder(to, "SASL protocol not requested by client")
	}
	body, _, err := delimited(b)
	if err != nil {
		return c.unreadable(to, err)
	}
	var m wire.RpcSasl
	if err := decoding.Unmarshal(body, &m); err != nil {
		return c.unreadable(to, err)
	}
	if c.sasl.done {
		return &refusal{refusedSASL, to, errorf(wire.RpcErrorCode_FATAL_INVALID_RPC_HEADER, ClassSASL, "Negotiation is already complete"), ""}
	}
	answer, err := c.sasl.step(&m)
	if err != nil {
		failed := saslError(err)
		failed.Code = wire.RpcErrorCode_FATAL_UNAUTHORIZED
		return &refusal{refusedSASL, to, failed, ""}
	}
	return c.succeed(&c.turn, to, answer, proto.Size(answer))
}

// saslError returns err as the peer sees it.
func saslError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		same := *e
		return &same
	}
	return &Error{Class: ClassSASL, Message: err.Error()}
}

// step answers one message.
func (s *saslServer) step(m *wire.RpcSasl) (*wire.RpcSasl, error) {
	state := m.GetState()
	if s.verifier == nil {
		switch state {
		case wire.RpcSasl_NEGOTIATE, wire.RpcSasl_INITIATE:
			// The client has tokens. Nothing is proven here, so it is told to go on without.
			s.done = true
			return &wire.RpcSasl{State: wire.RpcSasl_SUCCESS.Enum()}, nil
		default:
			return nil, unsupported(state)
		}
	}
	switch state {
	case wire.RpcSasl_NEGOTIATE:
		if s.offered {
			return nil, &Error{Class: ClassAccessControl, Message: "Client already attempted negotiation"}
		}
		return s.offer(), nil
	case wire.RpcSasl_INITIATE:
		return s.initiate(m)
	case wire.RpcSasl_RESPONSE:
		if !s.started {
			return nil, &Error{Class: ClassSASL, Message: "a RESPONSE came without a CHALLENGE"}
		}
		return s.respond(m)
	default:
		return nil, unsupported(state)
	}
}

func unsupported(state wire.RpcSasl_SaslState) error {
	return &Error{Class: ClassSASL, Message: "Client sent unsupported state " + state.String()}
}

// offer says what is available, and includes the challenge: a client that accepts needs one more message.
func (s *saslServer) offer() *wire.RpcSasl {
	s.offered = true
	auth := tokenAuth()
	auth.Challenge = challenge(s.nonce)
	return &wire.RpcSasl{State: wire.RpcSasl_NEGOTIATE.Enum(), Auths: []*wire.RpcSasl_SaslAuth{auth}}
}

// tokenAuth is what a client repeats to choose the token.
func tokenAuth() *wire.RpcSasl_SaslAuth {
	return &wire.RpcSasl_SaslAuth{
		Method: new(methodToken), Mechanism: new(mechanismDigest),
		Protocol: new(""), ServerId: new(digestRealm),
	}
}

// initiate processes the client's choice.
func (s *saslServer) initiate(m *wire.RpcSasl) (*wire.RpcSasl, error) {
	if len(m.GetAuths()) != 1 {
		return nil, &Error{Class: ClassSASL, Message: "Client mechanism is malformed"}
	}
	if s.started {
		return nil, &Error{Class: ClassSASL, Message: "Client already initiated"}
	}
	if !proto.Equal(m.GetAuths()[0], tokenAuth()) {
		if s.offered {
			return nil, &Error{Class: ClassAccessControl, Message: clip(m.GetAuths()[0].GetMethod()) + " authentication is not enabled.  Available:[TOKEN]"}
		}
		return s.offer(), nil
	}
	if m.Token != nil && len(m.Token) == 0 {
		s.started = true
		return &wire.RpcSasl{State: wire.RpcSasl_CHALLENGE.Enum(), Token: challenge(s.nonce)}, nil
	}
	return s.respond(m)
}

// respond checks the proof that the client has a token.
func (s *saslServer) respond(m *wire.RpcSasl) (*wire.RpcSasl, error) {
	if m.Token == nil {
		return nil, &Error{Class: ClassSASL, Message: "Client did not send a token"}
	}
	nonce := s.nonce
	s.nonce = ""
	if nonce == "" {
		return nil, &Error{Class: ClassSASL, Message: "the challenge was already answered"}
	}
	identifier, d, hash, err := readResponse(m.Token, nonce)
	if err != nil {
		return nil, &Error{Class: ClassSASL, Message: "DIGEST-MD5: " + err.Error()}
	}
	password, user, identity, err := s.verifier.Verify(identifier)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			return nil, e
		}
		return nil, &Error{Class: ClassInvalidToken, Message: err.Error()}
	}
	text := passwordText(password)
	if !sameText(hash, d.prove(text, "AUTHENTICATE")) {
		return nil, &Error{Class: ClassSASL, Message: "DIGEST-MD5: the response is not that of the token's password"}
	}
	s.done, s.user, s.identity = true, user, identity
	return &wire.RpcSasl{State: wire.RpcSasl_SUCCESS.Enum(), Token: []byte("rspauth=" + d.prove(text, ""))}, nil
}
