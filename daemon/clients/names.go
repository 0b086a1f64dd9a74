package clients

import (
	"heddle/rm"
	"heddle/yarn/wire"
)

// The enums on the wire have the names of YARN's states with a prefix. Any other state reads as the first value.

func appState(s rm.AppState) wire.YarnApplicationState {
	if v, ok := wire.YarnApplicationState_value[string(s)]; ok {
		return wire.YarnApplicationState(v)
	}
	return wire.YarnApplicationState_NEW
}

func finalStatus(f rm.FinalStatus) wire.FinalApplicationStatus {
	return wire.FinalApplicationStatus(wire.FinalApplicationStatus_value["APP_"+string(f)])
}

func logStatus(s string) wire.LogAggregationStatus {
	if v, ok := wire.LogAggregationStatus_value["LOG_"+s]; ok {
		return wire.LogAggregationStatus(v)
	}
	return wire.LogAggregationStatus_LOG_NOT_START
}

func nodeState(s string) wire.NodeState {
	if v, ok := wire.NodeState_value["NS_"+s]; ok {
		return wire.NodeState(v)
	}
	return wire.NodeState_NS_NEW
}

// attemptState hides states that clients have no word for. While its end is being stored, an attempt keeps its previous
// state, which for clients is running.
func attemptState(s string) wire.YarnApplicationAttemptState {
	if v, ok := wire.YarnApplicationAttemptState_value[attemptPrefix+s]; ok {
		return wire.YarnApplicationAttemptState(v)
	}
	switch s {
	case "FINAL_SAVING":
		return wire.YarnApplicationAttemptState_APP_ATTEMPT_RUNNING
	case "LAUNCHED_UNMANAGED_SAVING":
		return wire.YarnApplicationAttemptState_APP_ATTEMPT_ALLOCATED_SAVING
	default:
		return wire.YarnApplicationAttemptState_APP_ATTEMPT_NEW
	}
}
