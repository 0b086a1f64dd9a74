package rm

import "heddle/yarn/ids"

// Java exception classes that masters and clients act on.
const (
	yarnExceptions = "org.apache.hadoop.yarn.exceptions."

	classAttemptNotFound  = yarnExceptions + "ApplicationAttemptNotFoundException"
	classNotRegistered    = yarnExceptions + "ApplicationMasterNotRegisteredException"
	classInvalidMaster    = yarnExceptions + "InvalidApplicationMasterRequestException"
	classInvalidAsk       = yarnExceptions + "InvalidResourceRequestException"
	classInvalidLabel     = yarnExceptions + "InvalidLabelResourceRequestException"
	classInvalidBlacklist = yarnExceptions + "InvalidResourceBlacklistRequestException"
	classInvalidRelease   = yarnExceptions + "InvalidContainerReleaseException"
	classYarn             = yarnExceptions + "YarnException"
	classRetry            = "org.apache.hadoop.ipc.RetriableException"
)

// A NotFound says that something does not exist.
type NotFound struct{ What string }

// Error says what does not exist.
func (e *NotFound) Error() string { return "there is no " + e.What }

// A Denied says that a user may not do something. Groups says that it can depend on the user's groups: one of the access
// lists that apply names some.
type Denied struct {
	User, Do, What string
	Groups         bool
}

// Error says who may not do what.
func (e *Denied) Error() string {
	return text("user %s may not %s %s: access lists are enabled (yarn.acl.enable), and none of those that apply names the user", e.User, e.Do, e.What)
}

// A Replaced says that an agent is ignored because a newer agent of its node was heard from.
type Replaced struct{ Node ids.Node }

// Error says what is wrong and what would be right.
func (e *Replaced) Error() string {
	return text("another node agent that started later also claims node %s: stop one of them, or give it the name and the certificate of its own node", e.Node)
}

// An Invalid says what is wrong with a request. Class is the Java exception that its sender understands.
type Invalid struct{ Class, Text string }

// Error says what is wrong and what would be right.
func (e *Invalid) Error() string { return e.Text }

func invalid(class, format string, args ...any) error {
	return &Invalid{class, text(format, args...)}
}

// Unfit returns an error that says what is wrong with a request.
func Unfit(text string) error { return &Invalid{classYarn, text} }

// AsksTooMuch reports whether a request was refused for what it asks for, usually too large a container.
func AsksTooMuch(e *Invalid) bool { return e.Class == classInvalidAsk }
