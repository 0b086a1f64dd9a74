// Package rpc implements both sides of Hadoop's RPC protocol, version 9: frames, connection setup, SASL with DIGEST-MD5
// for tokens, calls answered out of order, and errors named by a Java class.
//
// It bounds what a peer can cost: see [Limits]. It knows the protocol's own messages, but not those that it carries, what
// a token stands for, or who may call what: handlers and the [Verifier] decide that.
package rpc

import (
	"fmt"

	"heddle/yarn/wire"
)

// Version is the protocol's version, in the header of every connection and every response.
const Version = 9

// Authentication codes in the connection header.
const (
	authNone byte = 0x00
	authSASL byte = 0xDF
)

// headerSize is the length of the connection header: magic, version, service class, authentication.
const headerSize = 7

// magic begins every connection.
const magic = "hrpc"

// Call ids that are not calls. Negative ones belong to the protocol itself.
const (
	callConnection int32 = -1 // an answer to no call
	callContext    int32 = -3
	callPing       int32 = -4
	callSASL       int32 = -33
)

// noRetry is the retry count of messages that are never sent again.
const noRetry int32 = -1

// Java classes of the errors that this package answers with, and of those that handlers use most.
const (
	ClassYarn          = "org.apache.hadoop.yarn.exceptions.YarnException"             // permanent: clients do not retry
	ClassAccessControl = "org.apache.hadoop.security.AccessControlException"           // access refused
	ClassInvalidToken  = "org.apache.hadoop.security.token.SecretManager$InvalidToken" // a token nobody issued, or no longer valid
	ClassSASL          = "javax.security.sasl.SaslException"                           // a SASL message out of order or malformed
	ClassNoMethod      = "org.apache.hadoop.ipc.RpcNoSuchMethodException"              // no such method
	ClassNoProtocol    = "org.apache.hadoop.ipc.RpcNoSuchProtocolException"            // no such protocol
	ClassVersion       = "org.apache.hadoop.ipc.RPC$VersionMismatch"                   // another version of the protocol
	ClassRetry         = "org.apache.hadoop.ipc.RetriableException"                    // clients retry
	ClassServer        = "org.apache.hadoop.ipc.RpcServerException"                    // a frame or message that cannot be read
	ClassIPC           = "org.apache.hadoop.ipc.IpcException"                          // a connection header that no server can answer
)

// An Error is an error as sent over the wire: handlers return one to choose what the caller sees, and [Client.Call]
// returns one if the server answered with an error. Class is the full name of a Java exception; clients decide by it what
// to do, and throw it.
type Error struct {
	Class   string
	Message string
	// Code 0 means ERROR_APPLICATION. From FATAL_UNKNOWN upwards the connection ends with the answer, and every other
	// call on it fails with the same error.
	Code wire.RpcErrorCode
}

// Error returns the class and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Class
	}
	return e.Class + ": " + e.Message
}

// fatal reports whether the connection ends with e.
func (e *Error) fatal() bool { return e.Code >= wire.RpcErrorCode_FATAL_UNKNOWN }

// code returns e's code with the default filled in.
func (e *Error) code() wire.RpcErrorCode {
	if e.Code == 0 {
		return wire.RpcErrorCode_ERROR_APPLICATION
	}
	return e.Code
}

// errorf makes an error to answer with.
func errorf(code wire.RpcErrorCode, class, format string, args ...any) *Error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...), Code: code}
}
