package daemon

import (
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

// auth holds the keys that sign tokens, and the attempts whose masters may call. Connections read it while the loop
// changes it.
type auth struct {
	mu       sync.RWMutex
	keys     [rm.NumRings]secrets
	attempts map[ids.Attempt]bool
}

// secrets are the keys of a ring. Keys that do not exist are zero.
type secrets struct {
	current, next token.Key
	made          int64 // when the newest key was made, in milliseconds since 1970
}

// Tokens returns the verifier that admits masters by the tokens they were started with.
func (r *RM) Tokens() rpc.Verifier { return r.auth }

// Verify returns the password of a master's token.
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
	key, ok := a.keys[rm.MasterRing].find(keyID)
	if !ok {
		return nil, "", nil, fmt.Errorf("the key %d of the token of %s is no longer in use", keyID, id)
	}
	return key.Password(identifier), id.String(), rm.Caller{Attempt: id, Key: keyID}, nil
}

// find returns the key with an id.
func (k *secrets) find(id int32) (token.Key, bool) {
	for _, key := range []token.Key{k.current, k.next} {
		if !key.IsZero() && key.ID == id {
			return key, true
		}
	}
	return token.Key{}, false
}

// newAuth takes over the keys in the store, or makes new ones.
func newAuth(state *store.State, now time.Time) (*auth, error) {
	a := &auth{attempts: map[ids.Attempt]bool{}}
	for i := range a.keys {
		k := &a.keys[i]
		if rm.Ring(i) == rm.MasterRing && state != nil && state.Keys.Current != nil {
			k.current, k.next = restored(state.Keys.Current), restored(state.Keys.Next)
			k.made = state.Keys.Current.Since
			continue
		}
		first, err := token.FirstKey()
		if err != nil {
			return nil, err
		}
		k.current, k.made = first, now.UnixMilli()
	}
	return a, nil
}

// states returns what the machine needs to know about the keys.
func (a *auth) states() (out [rm.NumRings]rm.KeyState) {
	for i := range a.keys {
		k := &a.keys[i]
		out[i] = rm.KeyState{Current: k.current.ID, Made: k.made}
		if !k.next.IsZero() {
			out[i].Next = &k.next.ID
		}
	}
	return out
}

func restored(k *store.Key) token.Key {
	if k == nil {
		return token.Key{}
	}
	return token.Key{ID: k.ID, Bytes: k.Bytes}
}

// kept returns the keys as the store holds them.
func (k *secrets) kept() store.Keys {
	one := func(key token.Key) *store.Key {
		if key.IsZero() {
			return nil
		}
		return &store.Key{ID: key.ID, Bytes: key.Bytes, Since: k.made}
	}
	return store.Keys{Current: one(k.current), Next: one(k.next)}
}

// makeKey makes the next key of a ring. Masters outlive this process and come back with tokens signed with master keys,
// so no token is signed with such a key before the key is stored.
func (r *RM) makeKey(e rm.MakeKey) {
	key, err := token.NewKey(e.ID)
	if err != nil {
		r.post(func() { r.step(&rm.KeyMade{Ring: e.Ring, Failed: err.Error()}) })
		return
	}
	k := r.auth.keys[e.Ring]
	k.next, k.made = key, time.Now().UnixMilli()
	made := func() {
		r.auth.set(e.Ring, k)
		r.step(&rm.KeyMade{Ring: e.Ring})
	}
	if e.Ring == rm.MasterRing {
		r.commit(made, store.PutKeys(k.kept()))
		return
	}
	r.post(made)
}

// useKey makes the next key of a ring its current key.
func (r *RM) useKey(e rm.UseKey) {
	k := r.auth.keys[e.Ring]
	k.current, k.next = k.next, token.Key{}
	r.auth.set(e.Ring, k)
	if e.Ring == rm.MasterRing {
		r.commit(func() {}, store.PutKeys(k.kept()))
	}
}

// set replaces the keys of a ring.
func (a *auth) set(ring rm.Ring, k secrets) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys[ring] = k
}

// signing returns the key that signs new tokens. If the ResourceManager itself checks the tokens, that is the next key,
// since every master then gets a new token. If nodes check them, the current key signs until all nodes have the next.
func (a *auth) signing(ring rm.Ring) token.Key {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if k := &a.keys[ring]; ring != rm.MasterRing || k.next.IsZero() {
		return k.current
	}
	return a.keys[ring].next
}

// admit lets an attempt's master in.
func (a *auth) admit(id ids.Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.attempts[id] = true
}

// drop stops admitting an attempt's master.
func (a *auth) drop(id ids.Attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.attempts, id)
}

// masterToken returns the token that admits a master.
func (a *auth) masterToken(id ids.Attempt) *wire.Token {
	return token.AMRM(id, a.signing(rm.MasterRing))
}

// nodeToken returns the token with which a master, or the ResourceManager on its behalf, calls a node.
func (a *auth) nodeToken(id ids.Attempt, n ids.Node, user string) *wire.Token {
	return token.NM(id, n, user, a.signing(rm.NodeRing))
}

// containerToken returns the token that a node requires to start a container.
func (r *RM) containerToken(c *rm.Granted) *wire.Token {
	return r.signed(r.units.ContainerToken(c, r.cluster))
}

// signed returns the token of a container that was encoded here. A node compares its expiry with the node's own clock, so
// it is by this host's clock, while the machine counts from its start.
func (r *RM) signed(id *wire.ContainerTokenIdentifier, err error) *wire.Token {
	if err != nil {
		panic("daemon: its own encoding cannot be decoded: " + err.Error())
	}
	id.ExpiryTimeStamp = new(id.GetExpiryTimeStamp() + r.clock().UnixMilli() - r.cluster - int64(r.now())/1e6)
	return token.Container(id, r.auth.signing(rm.ContainerRing), id.GetNmHostAddr())
}

// currentKeys returns the keys with which nodes check tokens.
func (a *auth) currentKeys() (conts, nodes *wire.MasterKey) {
	return a.signing(rm.ContainerRing).Wire(), a.signing(rm.NodeRing).Wire()
}

// next returns the next key of a ring, or nil if there is none.
func (a *auth) next(ring rm.Ring) *wire.MasterKey {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.keys[ring].next.IsZero() {
		return nil
	}
	return a.keys[ring].next.Wire()
}
