// Package wire is the messages of YARN's protocols: what applications, masters, nodes and administrators send
// to a ResourceManager and get back, and what it sends to nodes, with the headers of Hadoop's RPC around them
// and the identifiers inside its tokens.
//
// Messages and fields have Hadoop's names, without the suffix Proto of its messages, and Hadoop's numbers,
// types and labels: those are the contract with programs that are not ours. The definitions are the .proto
// files of this folder, and the code is made from them by go generate.
//
// It knows nothing of connections, of what the messages mean, or of the package heddle.
package wire

//go:generate go run heddle/internal/protogen
