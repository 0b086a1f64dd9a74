// Package trust decides who speaks for a node. A ResourceManager has its own certificate authority. A token entitles an
// agent to request a certificate from it, and a certificate names one node. Agents recognise the ResourceManager by that
// authority too: a token holds its hash.
//
// [Authority] is the ResourceManager's side. [Join], [Client] and [Renew] are the agent's.
package trust
