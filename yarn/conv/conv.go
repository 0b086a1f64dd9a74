// Package conv converts YARN's identifiers to messages of its protocols and back.
//
// It checks nothing: a message that is missing, or lacks a field, reads as zero. It does not know which applications
// exist.
package conv

import (
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// App returns the application that m names.
func App(m *wire.ApplicationId) ids.App {
	return ids.App{Cluster: m.GetClusterTimestamp(), Seq: m.GetId()}
}

// WireApp returns the message that names a.
func WireApp(a ids.App) *wire.ApplicationId {
	return &wire.ApplicationId{Id: new(a.Seq), ClusterTimestamp: new(a.Cluster)}
}

// Attempt returns the attempt that m names.
func Attempt(m *wire.ApplicationAttemptId) ids.Attempt {
	return ids.Attempt{App: App(m.GetApplicationId()), N: m.GetAttemptId()}
}

// WireAttempt returns the message that names a.
func WireAttempt(a ids.Attempt) *wire.ApplicationAttemptId {
	return &wire.ApplicationAttemptId{ApplicationId: WireApp(a.App), AttemptId: new(a.N)}
}

// Container returns the container that m names. It ignores the application outside the attempt, which nothing writes.
func Container(m *wire.ContainerId) ids.Container {
	return ids.Container{Attempt: Attempt(m.GetAppAttemptId()), ID: m.GetId()}
}

// WireContainer returns the message that names c.
func WireContainer(c ids.Container) *wire.ContainerId {
	return &wire.ContainerId{AppAttemptId: WireAttempt(c.Attempt), Id: new(c.ID)}
}

// Node returns the node that m names.
func Node(m *wire.NodeId) ids.Node {
	return ids.Node{Host: m.GetHost(), Port: m.GetPort()}
}

// WireNode returns the message that names n.
func WireNode(n ids.Node) *wire.NodeId {
	return &wire.NodeId{Host: new(n.Host), Port: new(n.Port)}
}
