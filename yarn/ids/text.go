package ids

// In JSON the identifiers are texts, and an empty text means none.

// MarshalText returns the text of the id, which is empty for no application.
func (a App) MarshalText() ([]byte, error) { return marshal(a) }

// UnmarshalText reads what MarshalText writes.
func (a *App) UnmarshalText(text []byte) error { return unmarshal(a, text, ParseApp) }

// IsZero reports whether a is no attempt.
func (a Attempt) IsZero() bool { return a == Attempt{} }

// MarshalText returns the text of the id, which is empty for no attempt.
func (a Attempt) MarshalText() ([]byte, error) { return marshal(a) }

// UnmarshalText reads what MarshalText writes.
func (a *Attempt) UnmarshalText(text []byte) error { return unmarshal(a, text, ParseAttempt) }

// MarshalText returns the text of the id, which is empty for no container.
func (c Container) MarshalText() ([]byte, error) { return marshal(c) }

// UnmarshalText reads what MarshalText writes.
func (c *Container) UnmarshalText(text []byte) error { return unmarshal(c, text, ParseContainer) }

// MarshalText returns the text of the id, which is empty for no node.
func (n Node) MarshalText() ([]byte, error) { return marshal(n) }

// UnmarshalText reads what MarshalText writes.
func (n *Node) UnmarshalText(text []byte) error { return unmarshal(n, text, ParseNode) }

func marshal(id interface {
	IsZero() bool
	String() string
},
) ([]byte, error) {
	if id.IsZero() {
		return nil, nil
	}
	return []byte(id.String()), nil
}

func unmarshal[T any](id *T, text []byte, parse func(string) (T, error)) error {
	if len(text) == 0 {
		*id = *new(T)
		return nil
	}
	read, err := parse(string(text))
	if err == nil {
		*id = read
	}
	return err
}
