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

// Slot is how many MiB a container has; it has one virtual core.
const Slot = 1024

// MostNodes is how many there are addresses for.
const MostNodes = 200 * 250 * 250

// Address is the loopback address of a node: one of its own, as a node has in a network.
func Address(i int) string { return fmt.Sprintf("127.%d.%d.%d", 1+i/62500, i/250%250, 1+i%250) }

// Size is that of so many containers.
func Size(containers int) *wire.Resource {
	return &wire.Resource{Memory: new(int64(containers) * Slot), VirtualCores: new(int32(containers))}
}

// AsNode is how NodeManagers connect.
func AsNode() rpc.ClientOptions {
	return rpc.ClientOptions{Protocol: protocols + "server.api.ResourceTrackerPB", User: "yarn"}
}

// AsClient is how a user's clients connect.
func AsClient(user string) rpc.ClientOptions {
	return rpc.ClientOptions{Protocol: protocols + "api.ApplicationClientProtocolPB", User: user}
}

// AsMaster is how a master connects that was given a token.
func AsMaster(t *wire.Token) rpc.ClientOptions {
	return rpc.ClientOptions{
		Protocol: protocols + "api.ApplicationMasterProtocolPB",
		Token:    &rpc.Token{Identifier: t.GetIdentifier(), Password: t.GetPassword(), Kind: t.GetKind(), Service: t.GetService()},
	}
}

// Submission is what a client submits: an application whose master is as large as one container.
func Submission(id *wire.ApplicationId, name, queue string) *wire.SubmitApplicationRequest {
	return &wire.SubmitApplicationRequest{ApplicationSubmissionContext: &wire.ApplicationSubmissionContext{
		ApplicationId: id, ApplicationName: &name, ApplicationType: new("MAPREDUCE"), Queue: &queue,
		Resource: Size(1), AmContainerSpec: &wire.ContainerLaunchContext{Command: []string{"true"}},
	}}
}

// Ask is a request for so many containers anywhere.
func Ask(priority, count int) *wire.ResourceRequest {
	return &wire.ResourceRequest{
		Priority: &wire.Priority{Priority: new(int32(priority))}, ResourceName: new("*"), Capability: Size(1), NumContainers: new(int32(count)),
	}
}

// Joining is what a NodeManager says that registers.
func Joining(id ids.Node, room int, list []*wire.NMContainerStatus) *wire.RegisterNodeManagerRequest {
	return &wire.RegisterNodeManagerRequest{
		NodeId: conv.WireNode(id), HttpPort: proto.Int32(8042), NmVersion: new("3.4.2"), Resource: Size(room), ContainerStatuses: list,
		NodeStatus: &wire.NodeStatus{NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)}},
	}
}

// NodeKey is the key that a NodeManager knows tokens by, of those that the ResourceManager gave it.
func NodeKey(k *wire.MasterKey) *token.Key { return &token.Key{ID: k.GetKeyId(), Bytes: k.GetBytes()} }

// A Host is the server of all NodeManagers: the ResourceManager starts and stops masters there.
type Host struct {
	// Key is the key that tokens are signed with.
	Key func() *token.Key
	// Start starts a user's master at a node, for the ResourceManager that began at a time: milliseconds since 1970.
	Start func(at ids.Node, id ids.Container, user string, manager int64, master *wire.Token) error
	// Stop stops one.
	Stop func(id ids.Container)
}

// Server is a server that is one.
func (h *Host) Server(log *slog.Logger) *rpc.Server {
	return rpc.NewServer(rpc.Options{
		Tokens: h, Log: log,
		Protocols: []rpc.Protocol{{
			Name: protocols + "api.ContainerManagementProtocolPB", Methods: map[string]rpc.Method{
				"startContainers": rpc.Serve(h.start), "stopContainers": rpc.Serve(h.stop),
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
