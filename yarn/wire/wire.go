// Package wire contains the messages of YARN's protocols: what applications, masters, nodes and administrators exchange
// with a ResourceManager, and what it sends to nodes, with the headers of Hadoop's RPC around them and the identifiers
// inside its tokens.
//
// Messages and fields have Hadoop's names (messages without the suffix Proto), numbers, types and labels: these are the
// contract with other programs. The definitions are the .proto files in this folder; go generate makes the code from
// them.
//
// It knows nothing of connections, of what the messages mean, or of the package heddle.
package wire

//go:generate go run heddle/internal/protogen
