package hollow

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/protobuf/proto"

	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/token"
	"heddle/yarn/wire"
)

const protocols = "org.apache.hadoop.yarn."

// Slot is the memory of a container in MiB; it has one virtual core.
const Slot = 1024

// MostNodes is the number of available addresses.
const MostNodes = 200 * 250 * 250

// Address returns the loopback address of a node; each node has its own, as in a network.
func Address(i int) string { return fmt.Sprintf("127.%d.%d.%d", 1+i/62500, i/250%250, 1+i%250) }

// Size returns the size of that many containers.
func Size(containers int) *wire.Resource {
	return &wire.Resource{Memory: new(int64(containers) * Slot), VirtualCores: new(int32(containers))}
}

// AsNode returns the options with which NodeManagers connect.
func AsNode() rpc.ClientOptions {
	return rpc.ClientOptions{Protocol: protocols + "server.api.ResourceTrackerPB", User: "yarn"}
}

// AsClient returns the options with which a user's clients connect.
func AsClient(user string) rpc.ClientOptions {
	return rpc.ClientOptions{Protocol: protocols + "api.ApplicationClientProtocolPB", User: user}
}

// AsMaster returns the options with which a master connects that was given a token.
func AsMaster(t *wire.Token) rpc.ClientOptions {
	return rpc.ClientOptions{
		Protocol: protocols + "api.ApplicationMasterProtocolPB",
		Token:    &rpc.Token{Identifier: t.GetIdentifier(), Password: t.GetPassword(), Kind: t.GetKind(), Service: t.GetService()},
	}
}

// Submission returns a client's submission of an application whose master has the size of one container.
func Submission(id *wire.ApplicationId, name, queue string) *wire.SubmitApplicationRequest {
	return &wire.SubmitApplicationRequest{ApplicationSubmissionContext: &wire.ApplicationSubmissionContext{
		ApplicationId: id, ApplicationName: &name, ApplicationType: new("MAPREDUCE"), Queue: &queue,
		Resource: Size(1), AmContainerSpec: &wire.ContainerLaunchContext{Command: []string{"true"}},
	}}
}

// Ask returns a request for that many containers anywhere.
func Ask(priority, count int) *wire.ResourceRequest {
	return &wire.ResourceRequest{
		Priority: &wire.Priority{Priority: new(int32(priority))}, ResourceName: new("*"), Capability: Size(1), NumContainers: new(int32(count)),
	}
}

// Joining returns the registration of a NodeManager.
func Joining(id ids.Node, room int, list []*wire.NMContainerStatus) *wire.RegisterNodeManagerRequest {
	return &wire.RegisterNodeManagerRequest{
		NodeId: conv.WireNode(id), HttpPort: proto.Int32(8042), NmVersion: new("3.4.2"), Resource: Size(room), ContainerStatuses: list,
		NodeStatus: &wire.NodeStatus{NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)}},
	}
}

// NodeKey returns the key with which a NodeManager verifies tokens, from the one that the ResourceManager gave it.
func NodeKey(k *wire.MasterKey) *token.Key { return &token.Key{ID: k.GetKeyId(), Bytes: k.GetBytes()} }

// A Host is the server of all NodeManagers: the ResourceManager starts and stops masters there.
type Host struct {
	// Key returns the key that signs tokens.
	Key func() *token.Key
	// Start starts a user's master on a node, for the ResourceManager that began at a time in milliseconds since 1970.
	Start func(at ids.Node, id ids.Container, user string, manager int64, master *wire.Token) error
	// Stop stops a master.
	Stop func(id ids.Container)
}

// Server returns a server for the host.
func (h *Host) Server(log *slog.Logger) *rpc.Server {
	return rpc.NewServer(rpc.Options{
		Tokens: h, Log: log,
		Protocols: []rpc.Protocol{{
			Name: protocols + "api.ContainerManagementProtocolPB", Methods: map[string]rpc.Method{
				"startContainers": rpc.Serve(h.start).Within(8<<20, 100_000), "stopContainers": rpc.Serve(h.stop),
			},
		}},
	})
}

// Verify implements [rpc.Verifier]: the ResourceManager has a token for the node.
func (h *Host) Verify(identifier []byte) (password []byte, user string, identity any, err error) {
	id, err := token.ParseNM(identifier)
	if err != nil {
		return nil, "", nil, err
	}
	return h.Key().Password(identifier), id.GetAppSubmitter(), nil, nil
}

func (h *Host) start(_ context.Context, _ *rpc.Call, q *wire.StartContainersRequest) (*wire.StartContainersResponse, error) {
	p := &wire.StartContainersResponse{}
	for _, r := range q.GetStartContainerRequest() {
		k, err := token.ParseContainer(r.GetContainerToken().GetIdentifier())
		if err != nil {
			return nil, err
		}
		creds, err := token.ParseCredentials(r.GetContainerLaunchContext().GetTokens())
		if err != nil {
			return nil, err
		}
		at, err := ids.ParseNode(k.GetNmHostAddr())
		if err != nil {
			return nil, err
		}
		for _, t := range creds.Tokens {
			if t.Token.GetKind() != token.AMRMKind {
				continue
			}
			if err := h.Start(at, conv.Container(k.GetContainerId()), k.GetAppSubmitter(), k.GetRmIdentifier(), t.Token); err != nil {
				return nil, err
			}
		}
		p.SucceededRequests = append(p.SucceededRequests, k.GetContainerId())
	}
	return p, nil
}

func (h *Host) stop(_ context.Context, _ *rpc.Call, q *wire.StopContainersRequest) (*wire.StopContainersResponse, error) {
	for _, id := range q.GetContainerId() {
		h.Stop(conv.Container(id))
	}
	return &wire.StopContainersResponse{SucceededRequests: q.GetContainerId()}, nil
}
