package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/translate"
	"heddle/yarn/wire"
)

const (
	containerProtocol = "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB"
	launchTimeout     = 30 * time.Second // of one call to a NodeManager
	launchPause       = time.Second      // between tries to reach one
)

// Variables that a master finds in its environment besides those its client set.
const (
	envProxyBase  = "APPLICATION_WEB_PROXY_BASE"
	envSubmitTime = "APP_SUBMIT_TIME_ENV"
)

// launch starts a master on its node. It does not wait.
func (r *RM) launch(e *rm.StartMaster) {
	began := func(err error) {
		m := &rm.Started{Container: e.ID}
		if err != nil {
			m.Failed = err.Error()
		}
		r.post(func() { r.step(m) })
	}
	admits, container := r.auth.masterToken(e.ID.Attempt), r.containerToken(&e.Granted)
	nm := r.nodeCall(e.ID.Attempt, e.Node, e.User)
	go func() { // a long submission takes milliseconds to read
		spec, err := launchContext(e, admits)
		if err != nil {
			began(err)
			return
		}
		q := &wire.StartContainersRequest{StartContainerRequest: []*wire.StartContainerRequest{{
			ContainerLaunchContext: spec, ContainerToken: container,
		}}}
		p := &wire.StartContainersResponse{}
		err = r.callNode(nm, "startContainers", q, p)
		id := conv.WireContainer(e.ID)
		for _, f := range p.GetFailedRequests() {
			if proto.Equal(f.GetContainerId(), id) {
				err = fmt.Errorf("%s: %s", f.GetException().GetClassName(), f.GetException().GetMessage())
			}
		}
		began(err)
	}()
}

// stop ends a master's container on its node without waiting for the node's next heartbeat.
func (r *RM) stop(e *rm.StopMaster) {
	nm := r.nodeCall(e.Container.Attempt, e.Node, e.User)
	nm.tries = 1 // the answer to the next heartbeat says so too
	q := &wire.StopContainersRequest{ContainerId: []*wire.ContainerId{conv.WireContainer(e.Container)}}
	go func() {
		if err := r.callNode(nm, "stopContainers", q, &wire.StopContainersResponse{}); err != nil {
			r.log.Info("a master could not be stopped directly; its node gets the order with its next heartbeat", "container", e.Container, "error", err)
		}
	}()
}

// A nodeCall is what is needed to call a NodeManager on behalf of a master.
type nodeCall struct {
	addr  string
	token *rpc.Token
	tries int
}

func (r *RM) nodeCall(t ids.Attempt, n ids.Node, user string) nodeCall {
	k := r.auth.nodeToken(t, n, user)
	return nodeCall{n.String(), &rpc.Token{Identifier: k.Identifier, Password: k.Password, Kind: k.GetKind(), Service: k.GetService()}, max(r.cfg.ConnectRetries, 1)}
}

// callNode makes one call to a NodeManager. It retries if the NodeManager cannot be reached, or says that it could make
// the call later.
func (r *RM) callNode(nm nodeCall, method string, q, p proto.Message) error {
	r.launches <- struct{}{}
	defer func() { <-r.launches }()
	var err error
	for try := range nm.tries {
		if try > 0 {
			select {
			case <-time.After(launchPause):
			case <-r.done:
				return ErrStopping
			}
		}
		if err = r.callOnce(nm, method, q, p); err == nil {
			return nil
		}
		if remote := (*rpc.Error)(nil); errors.As(err, &remote) && remote.Class != classRetry && remote.Class != classNotReady {
			return err // it was reached, and refused the call
		}
	}
	return fmt.Errorf("NodeManager %s: %w", nm.addr, err)
}

func once(nm nodeCall, method string, q, p proto.Message) error {
	ctx, cancel := context.WithTimeout(context.Background(), launchTimeout)
	defer cancel()
	c, err := rpc.Dial(ctx, nm.addr, rpc.ClientOptions{Protocol: containerProtocol, Token: nm.token, Timeout: launchTimeout})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the call is over either way
	return c.Call(ctx, method, q, p)
}

// launchContext returns the launch context that a client submitted for its master, with the token that admits the
// master and the variables the master needs added. It cuts the Java heap if the container is smaller than what was
// asked for, and changes nothing else.
func launchContext(e *rm.StartMaster, admits *wire.Token) (*wire.ContainerLaunchContext, error) {
	c := &wire.ApplicationSubmissionContext{}
	if err := proto.Unmarshal(e.Context, c); err != nil {
		return nil, fmt.Errorf("the submission: %w", err)
	}
	spec := c.GetAmContainerSpec()
	if spec == nil {
		spec = &wire.ContainerLaunchContext{}
	}
	creds, err := token.ParseCredentials(spec.GetTokens())
	if err != nil {
		return nil, fmt.Errorf("the credentials of the submission: %w", err)
	}
	if e.Heap > 0 && !translate.CutHeap(spec, e.Heap) {
		return nil, fmt.Errorf("the master's container is smaller than requested, and the heap in its command cannot be cut to %d MiB", e.Heap)
	}
	creds.Add("", admits)
	spec.Tokens = creds.Bytes()
	set(spec, envProxyBase, "/proxy/"+e.App.String())
	set(spec, envSubmitTime, strconv.FormatInt(e.Submitted, 10))
	return spec, nil
}

// set sets a variable in a container's environment, replacing one of the same name.
func set(spec *wire.ContainerLaunchContext, key, value string) {
	kv := &wire.StringStringMap{Key: new(key), Value: new(value)}
	i := slices.IndexFunc(spec.Environment, func(e *wire.StringStringMap) bool { return e.GetKey() == key })
	if i >= 0 {
		spec.Environment[i] = kv
		return
	}
	spec.Environment = append(spec.Environment, kv)
}
