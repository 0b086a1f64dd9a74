package api

// Where an agent gets its certificate: the first with a token, each later one with the certificate that it has.
const (
	JoinPath  = "/heddle/v1/node/join"
	RenewPath = "/heddle/v1/node/renew"
)

// A Join asks for a certificate.
type Join struct {
	Token   string `json:"token,omitempty"` // what heddle node token printed; unused at RenewPath
	Request []byte `json:"request"`         // a PKCS #10 certificate request in DER whose common name is the node, host:port
}

// A Joined is the answer to a Join.
type Joined struct {
	Certificate []byte `json:"certificate"` // in DER
}

// MaxJoin is the maximum size of a Join or a Joined, in bytes.
const MaxJoin = 64 << 10
