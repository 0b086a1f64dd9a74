package rpc

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/wire"
)

// authenticate proves that the client has token t, and makes the server prove that it knows t's password. This cannot be
// avoided: a server that wants no token is refused. Header is sent before the first message.
func (c *Client) authenticate(header []byte, t *Token) error {
	m, err := c.exchange(header, &wire.RpcSasl{State: wire.RpcSasl_NEGOTIATE.Enum()})
	if err != nil {
		return err
	}
	if state := m.GetState(); state != wire.RpcSasl_NEGOTIATE {
		return fmt.Errorf("the server answered NEGOTIATE with %v: it takes no token", state)
	}
	auth, err := chooseToken(m.GetAuths())
	if err != nil {
		return err
	}
	text, password := auth.GetChallenge(), passwordText(t.Password)
	chosen := proto.CloneOf(auth)
	chosen.Challenge = nil
	state := wire.RpcSasl_INITIATE
	if len(text) == 0 {
		// The challenge comes only after the choice.
		m, err = c.exchange(nil, &wire.RpcSasl{State: &state, Token: []byte{}, Auths: []*wire.RpcSasl_SaslAuth{chosen}})
		if err != nil {
			return err
		}
		if got := m.GetState(); got != wire.RpcSasl_CHALLENGE {
			return fmt.Errorf("the server answered INITIATE with %v, not with CHALLENGE", got)
		}
		text, state, chosen = m.GetToken(), wire.RpcSasl_RESPONSE, nil
	}
	realm, nonce, err := readChallenge(text)
	if err != nil {
		return fmt.Errorf("challenge of the server: %w", err)
	}
	if strings.ContainsAny(realm+nonce+auth.GetProtocol()+auth.GetServerId(), "\"\\") {
		return errors.New("challenge of the server: quotation marks in its realm, nonce or name")
	}
	d := &digest{
		username: base64.StdEncoding.EncodeToString(t.Identifier),
		realm:    realm, nonce: nonce, cnonce: newNonce(),
		uri: auth.GetProtocol() + "/" + auth.GetServerId(),
	}
	answer := &wire.RpcSasl{State: &state, Token: d.response(password)}
	if chosen != nil {
		answer.Auths = []*wire.RpcSasl_SaslAuth{chosen}
	}
	if m, err = c.exchange(nil, answer); err != nil {
		return err
	}
	if got := m.GetState(); got != wire.RpcSasl_SUCCESS {
		return fmt.Errorf("the server answered the response with %v, not with SUCCESS", got)
	}
	if !sameText(string(m.GetToken()), "rspauth="+d.prove(password, "")) {
		return errors.New("the server did not prove that it knows the token's password")
	}
	return nil
}

// chooseToken returns the offer that accepts a token.
func chooseToken(auths []*wire.RpcSasl_SaslAuth) (*wire.RpcSasl_SaslAuth, error) {
	var offered []string
	for _, a := range auths {
		if a.GetMethod() == methodToken && a.GetMechanism() == mechanismDigest {
			return a, nil
		}
		offered = append(offered, clip(a.GetMethod())+"/"+clip(a.GetMechanism()))
	}
	return nil, fmt.Errorf("the server offers [%s], not %s/%s", strings.Join(offered, " "), methodToken, mechanismDigest)
}

// exchange sends m after header, and reads the answer.
func (c *Client) exchange(header []byte, m *wire.RpcSasl) (*wire.RpcSasl, error) {
	at := len(header)
	b, err := appendMessage(appendRequestHeader(beginFrame(header), callSASL, noRetry, nil), m)
	if err != nil {
		return nil, err
	}
	endFrame(b, at)
	if err = c.out.send(nil, b); err != nil {
		return nil, err
	}
	frame, err := c.in.next()
	if err != nil {
		return nil, err
	}
	h, body, err := c.response(frame, nil)
	switch {
	case err != nil:
		return nil, err
	case h.err != nil:
		return nil, h.err
	case h.call != callSASL:
		return nil, fmt.Errorf("received an answer to call %d; expected one to SASL", h.call)
	}
	var answer wire.RpcSasl
	if err := decoding.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	return &answer, nil
}
