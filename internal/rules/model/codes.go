package model

// Codes of the errors that Validate reports (contract 4). A document with any
// of them is stored, but neither simulated nor planned.
const (
	DuplicateID          = "duplicate_id"           // an id occurs twice in its list
	NoStartState         = "no_start_state"         // no state has isStart
	SeveralStartStates   = "several_start_states"   // more than one has
	UnknownState         = "unknown_state"          // an id names no state
	UnknownAction        = "unknown_action"         // an id names no action
	UnknownVariable      = "unknown_variable"       // an id names no variable
	NotInputVariable     = "not_an_input_variable"  // it names a memory variable where an input belongs
	NotMemoryVariable    = "not_a_memory_variable"  // it names an input variable where memory belongs
	ChoicesMissing       = "choices_missing"        // a choice variable lists no choices
	ValueNotInChoices    = "value_not_in_choices"   // a string that is none of the variable's choices
	ValueTypeMismatch    = "value_type_mismatch"    // a value of another type than the variable's
	ValueMissing         = "value_missing"          // a comparison without the value to compare with
	OperatorTypeMismatch = "operator_type_mismatch" // gt, gte, lt or lte on something else than a number
	FinalStateLeft       = "final_state_left"       // a transition out of a final state
	WrongShape           = "wrong_shape"            // what PUT refuses; only documents that never passed it have it
)

// Codes of the warnings that Validate reports (contract 4). They stop nothing.
const (
	ComparesWithNull     = "compares_with_null"     // the outcome is the same for every value
	ValueIgnored         = "value_ignored"          // isUnknown or isKnown with a value
	UnreachableState     = "unreachable_state"      // no run gets there
	DeadEndState         = "dead_end_state"         // not final, and nothing leads out of it
	TransitionNeverTaken = "transition_never_taken" // whatever the values are
	ExpectationNotMet    = "expectation_not_met"    // a scenario comes to something else
	ScenarioLoops        = "scenario_loops"         // a scenario never ends
	ScenarioTooLong      = "scenario_too_long"      // not judged: it goes beyond the work of one validation

	TrapState                = "trap_state"                  // every run that comes there never ends in a final state
	LoopPossible             = "loop_possible"               // some inputs lead into a loop
	OverlappingTransitions   = "overlapping_transitions"     // two of one state and priority, enabled at once
	ScenarioCoversNothingNew = "scenario_covers_nothing_new" // an earlier one shows the same
	ExplorationEnded         = "exploration_ended"           // the limit ended it: what wasn't seen isn't judged
	StuckPossible            = "stuck_possible"              // only of Explore: it may be how a run waits
)
