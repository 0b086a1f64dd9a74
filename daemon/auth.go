package daemon

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"heddle/daemon/store"
	"heddle/rm"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

// auth is the keys that tokens are signed with, and the attempts whose masters may call. Connections look at
// it while the loop changes it.
type auth struct {
	mu       sync.RWMutex
	masters  *token.Keys
	nodes    *token.Keys
	conts    *token.Keys
	attempts map[ids.Attempt]bool
	keeping  bool // new keys of masters are being stored; the loop's own
}

// Tokens lets masters in by the tokens they were started with.
func (r *RM) Tokens() rpc.Verifier { return r.auth }

// Verify finds the password of a master's token.
func (a *auth) Verify(identifier []byte) (password []byte, user string, identity any, err error) {
	id, keyID, err := token.ParseAMRM(identifier)
	if err != nil {
		return nil, "", nil, err
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if !a.attempts[id] {
		return nil, "", nil, fmt.Errorf("%s not found in AMRMTokenSecretManager", id)
	}
	key, ok := a.masters.Find(keyID)
	if !ok {
		return nil, "", nil, fmt.Errorf("the key %d of the token of %s is no longer in use", keyID, id)
	}
	return key.Password(identifier), id.String(), rm.Caller{Attempt: id, Key: keyID}, nil
}

// newAuth takes over the keys that the store holds, or makes some.
func newAuth(cfg Config, state *store.State, now time.Time) (*auth, error) {
	a := &auth{attempts: map[ids.Attempt]bool{}}
	masters := token.Schedule{Interval: cfg.KeyRolling, Overlap: time.Duration(cfg.MasterExpiry) * 3 / 2, NextSigns: true}
	nodes := token.Schedule{Interval: cfg.NodeKeyRolling, Overlap: time.Duration(cfg.NodeExpiry) * 3 / 2}
	var err, err2, err3 error
	if state != nil && state.Keys.Current != nil {
		s := token.KeyState{Previous: restored(state.Keys.Previous), Current: restored(state.Keys.Current), Next: restored(state.Keys.Next)}
		last := state.Keys.Current
		if state.Keys.Next != nil {
			last = state.Keys.Next
		}
		s.Rolled = time.UnixMilli(last.Since)
		a.masters, err = token.RestoreKeys(masters, s, now)
	} else {
		a.masters, err = token.NewKeys(masters, now)
	}
	a.nodes, err2 = token.NewKeys(nodes, now)
	a.conts, err3 = token.NewKeys(nodes, now)
	return a, errors.Join(err, err2, err3)
}

func restored(k *store.Key) token.Key {
	if k == nil {
		return token.Key{}
	}
	return token.Key{ID: k.ID, Bytes: k.Bytes}
}

func kept(k token.Key, since time.Time) *store.Key {
	if k.IsZero() {
		return nil
	}
	return &store.Key{ID: k.ID, Bytes: k.Bytes, Since: since.UnixMilli()}
}

// keepKeys stores the keys of masters' tokens: masters that outlive this process come back with them.
func (r *RM) keepKeys(keys *token.Keys, then func()) {
	s := keys.State()
	r.commit(then, store.PutKeys(store.Keys{Previous: kept(s.Previous, s.Rolled), Current: kept(s.Current, s.Rolled), Next: kept(s.Next, s.Rolled)}))
}

// roll makes new keys when it is time.
func (r *RM) roll(now time.Time) {
	if !r.auth.keeping && !now.Before(r.auth.masters.Due()) {
		r.rollMasters(now)
	}
	r.auth.mu.Lock()
	_, err := r.auth.nodes.Roll(now)
	_, err2 := r.auth.conts.Roll(now)
	renewed := r.auth.nodes.Activate(now)
	r.auth.conts.Activate(now)
	r.auth.mu.Unlock()
	if err := errors.Join(err, err2); err != nil {
		r.log.Error("no new keys for nodes; the old ones stay", "error", err)
	}
	if renewed { // every master needs its NMTokens again
		r.step(rm.KeysRenewed{})
	}
}

// rollMasters makes the next key of masters' tokens, or the next one the current one. No token is signed with a
// key before it is stored.
func (r *RM) rollMasters(now time.Time) {
	keys := *r.auth.masters
	if _, err := keys.Roll(now); err != nil {
		r.log.Error("no new key for masters; the old one stays", "error", err)
		return
	}
	keys.Activate(now)
	r.auth.keeping = true
	r.keepKeys(&keys, func() {
		r.auth.mu.Lock()
		defer r.auth.mu.Unlock()
		r.auth.masters, r.auth.keeping = &keys, false
	})
}

// admit lets an attempt's master in.
func (a *auth) admit(id ids.Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.attempts[id] = true
}

// drop lets an attempt's master in no more.
func (a *auth) drop(id ids.Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.attempts, id)
}

// masterToken is what lets a master in.
func (a *auth) masterToken(id ids.Attempt) *wire.Token {
	a.admit(id)
	a.mu.RLock()
	defer a.mu.RUnlock()
	return token.AMRM(id, a.masters.Signing())
}

// rolled is a new token for a master that came with a key that is about to go; nil for no need.
func (a *auth) rolled(id ids.Attempt, key int32) *wire.Token {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if next, ok := a.masters.Next(); ok && next.ID != key {
		return token.AMRM(id, next)
	}
	return nil
}

// nodeToken lets a master, or the ResourceManager in its name, call a node.
func (a *auth) nodeToken(id ids.Attempt, n ids.Node, user string) *wire.Token {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return token.NM(id, n, user, a.nodes.Signing())
}

// containerToken is what a node is shown to start a container.
func (r *RM) containerToken(c *rm.Granted) *wire.Token {
	id, err := r.units().ContainerToken(c, r.cluster)
	if err != nil {
		panic("daemon: what was encoded here does not decode: " + err.Error())
	}
	r.auth.mu.RLock()
	defer r.auth.mu.RUnlock()
	return token.Container(id, r.auth.conts.Signing(), id.GetNmHostAddr())
}

// currentKeys are the keys that nodes check tokens by.
func (a *auth) currentKeys() (conts, nodes *wire.MasterKey) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.conts.Current().Wire(), a.nodes.Current().Wire()
}

// due is when there are keys to make. It is for the loop.
func (a *auth) due() time.Time {
	at := a.nodes.Due()
	if t := a.conts.Due(); t.Before(at) {
		at = t
	}
	if t := a.masters.Due(); !a.keeping && t.Before(at) {
		at = t
	}
	return at
}

// newKeys are the keys that a node does not have yet, by the ids of those it has; nil for none.
func (a *auth) newKeys(conts, nodes int32) (c, n *wire.MasterKey) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if next, ok := a.conts.Next(); ok && next.ID != conts {
		c = next.Wire()
	}
	if next, ok := a.nodes.Next(); ok && next.ID != nodes {
		n = next.Wire()
	}
	return c, n
}
