// Package rpc is Hadoop's remote procedure calls, version 9, both sides: the frames, the connection's
// beginning, SASL with DIGEST-MD5 for tokens, calls that are answered out of order, and errors by the name of
// a Java class.
//
// It bounds what a peer can cost: see [Limits]. It knows the messages of the protocol itself and nothing of
// those it carries, of what a token stands for, or of who may call what: handlers and the [Verifier] decide.
package rpc

import (
	"fmt"

	"heddle/yarn/wire"
)

// Version is the protocol's version, in the header of every connection and every response.
const Version = 9

// What stands for an authentication in the connection header.
const (
	authNone byte = 0x00
	authSASL byte = 0xDF
)

// headerSize is how long the connection header is: magic, version, service class, authentication.
const headerSize = 7

// magic begins every connection.
const magic = "hrpc"

// Call ids that are no calls. Negative ones are the protocol's own.
const (
	callConnection int32 = -1 // an answer that belongs to no call
	callContext    int32 = -3
	callPing       int32 = -4
	callSASL       int32 = -33
)

// noRetry is the retry count of what is never sent again.
const noRetry int32 = -1

// Java classes of the errors this package answers with itself, and of those handlers name most.
const (
	ClassYarn          = "org.apache.hadoop.yarn.exceptions.YarnException"             // permanent: clients do not try again
	ClassAccessControl = "org.apache.hadoop.security.AccessControlException"           // access refused
	ClassInvalidToken  = "org.apache.hadoop.security.token.SecretManager$InvalidToken" // a token nobody issued, or no more valid
	ClassSASL          = "javax.security.sasl.SaslException"                           // a SASL message out of order or malformed
	ClassNoMethod      = "org.apache.hadoop.ipc.RpcNoSuchMethodException"              // no such method
	ClassNoProtocol    = "org.apache.hadoop.ipc.RpcNoSuchProtocolException"            // no such protocol
	ClassVersion       = "org.apache.hadoop.ipc.RPC$VersionMismatch"                   // another version of the protocol
	ClassRetry         = "org.apache.hadoop.ipc.RetriableException"                    // clients try again
	ClassServer        = "org.apache.hadoop.ipc.RpcServerException"                    // a frame or message that cannot be read
	ClassIPC           = "org.apache.hadoop.ipc.IpcException"                          // a connection header nobody can answer
)

// An Error is an error as it goes over the wire: handlers return one to choose what the caller sees, and
// [Client.Call] returns one for what the server answered. Class is the full name of a Java exception; clients
// decide by it what to do, and throw it.
type Error struct {
	Class   string
	Message string
	// Code is ERROR_APPLICATION where it is 0. From FATAL_UNKNOWN on the connection ends with the answer, and
	// every other call on it fails with the same error.
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

// code is e's code with the default filled in.
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
