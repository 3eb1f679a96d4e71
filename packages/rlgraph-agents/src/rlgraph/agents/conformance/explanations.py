"""What each row does, how near its results have to come, and what usually breaks it: for ``--explain``."""

from __future__ import annotations

CUES = (
    "`CueTask`: states show a cue that actions answer; rewards are from 0 to 1, episodes have 3 to 6 steps."
)
BATCHES = "`Agent.update` on batches of 16 steps in random states."

#: Row -> the task, the tolerance, and the usual causes of a failure.
EXPLANATIONS: dict[str, tuple[str, str, str]] = {
    "learning/categories": (
        f"{CUES} Up to 3200 steps in four environments, with an evaluation after every 400.",
        "half way from random actions to the best ones",
        "the sign of a loss; options that do not suit: see Algorithm.test_options",
    ),
    "learning/floats": (
        f"{CUES} As learning/categories, with one float from -1 to 1.",
        "half way from random actions to the best ones",
        "the sign of the policy's loss; actions that are scaled twice, or not at all; too little exploration",
    ),
    "learning/containers": (
        f"{CUES} As learning/categories, with a Dict of two actions.",
        "half way from random actions to the best ones",
        "log-probabilities of the parts that are not added up",
    ),
    "learning/same_seed": (
        f"{CUES} Three agents train for 48 steps, two of them with the same seed.",
        "no bit differs",
        "draws from NumPy's global generator, from time, or from the order of a set",
    ),
    "learning/data_sets": (
        f"{CUES} 400 updates from a recorded data set; agents without a memory refuse it.",
        "half way from random actions to the best ones",
        "update counts steps of its own; actions of the records are not used, or demonstrations not imitated",
    ),
    "learning/is_not_disturbed": (
        f"{CUES} Two trainings of 48 steps, one with evaluations and calls of get_actions in between.",
        "no bit differs",
        "acting writes what training reads: a counter, a table, a stream of random numbers",
    ),
    "learning/is_not_disturbed_with_memory": (
        f"{CUES} As learning/is_not_disturbed, with an LSTM and a GRU.",
        "no bit differs",
        "internal states of training are used for other calls",
    ),
    "learning/recurrent_networks": (
        f"{CUES} 32 steps with an LSTM and a GRU, then greedy actions after different states.",
        "no bit differs in fresh episodes",
        "internal states are not passed on, or not reset; the recurrent layers get no derivative",
    ),
    "acting/log_probabilities": (
        "Rewards are the log-probabilities that the actor has; a probe in update compares them with its own, the row "
        "with those that act remembers.",
        "1e-5 in float32, 1e-12 in float64",
        "update sees other states, or other weights, than acting did; act draws twice; the gradient of the policy "
        "lacks the importance ratio",
    ),
    "acting/log_probabilities_with_memory": (
        "As acting/log_probabilities, with an LSTM and a GRU.",
        "1e-12 in float64",
        "update does not start from the internal states of acting",
    ),
    "acting/draws_follow_the_probabilities": (
        "4000 actions in one state, beside the probabilities that update computes.",
        "5 standard errors and 0.002",
        "a deviation that is used as a variance; draws that are clipped without a word in the density",
    ),
    "acting/backends_act_the_same": (
        "Actions in 6 times 5 states, of the backend and of NumPy, with the same weights.",
        "1e-9 in float64",
        "operations outside ops; random numbers of a framework",
    ),
    "acting/an_actor_alone": (
        "The pickled spec builds an actor on NumPy, which is sent the weights.",
        "1e-9 in float64",
        "act depends on something that is neither an option nor a variable",
    ),
    "acting/a_spec_is_data": (
        "The spec of actors is pickled and read again.",
        "equal, and below 10 kB",
        "an option is an object, or holds arrays",
    ),
    "acting/weights_without_the_optimizer": (
        "Each variable is changed, and the message to actors compared.",
        "as many numbers as act reads",
        "act calls a target, or a part that only learning needs",
    ),
    "exploration/drawn_actions_vary": (
        "Drawn and greedy actions, 10 times in the same 50 states.",
        "some drawn ones differ, no greedy one does",
        "act returns the best action; the exploration is not called",
    ),
    "exploration/noise_and_entropy": (
        "2000 actions at progress 0, 0.5 and 1 with noise or epsilon that falls to 0; ten updates with a weight of the "
        "entropy of 30, and no rewards.",
        "a tenth of the noise at its start; the entropy rises by 0.02",
        "progress is not handed to the exploration; the entropy has the wrong sign in the loss",
    ),
    "experience/cut_episodes_never_join": (
        f"{CUES} States have the number of their episode; a probe in update counts records with two numbers.",
        "none",
        "ends and resets are not respected; windows of several steps go on after a cut",
    ),
    "experience/cut_episodes_never_join_with_memory": (
        "As experience/cut_episodes_never_join, with recurrent networks.",
        "none",
        "sequences go on after a cut",
    ),
    "experience/garbage_changes_nothing": (
        f"{CUES} Environments crash and reset late; rows that are no steps hold other numbers in two trainings.",
        "no bit differs",
        "means, standardization or sums without the weights of the rows",
    ),
    "experience/garbage_changes_nothing_with_memory": (
        "As experience/garbage_changes_nothing, with recurrent networks. A rollout of two episodes, of which the "
        "first has other states.",
        "no bit differs; 1e-9 after other states",
        "means, standardization or sums without the weights of the rows; an update does not reset internal states at "
        "ends of episodes",
    ),
    "updates/importance_weights": (
        f"{BATCHES} One of them has another reward, with importance weights 0, 0.1 and 1. Then all have 0.5.",
        "no bit differs with weight 0; half the change with 0.5, to a thousandth",
        "update does not hand importance_weights to the loss; errors are weighted before they are squared",
    ),
    "updates/priorities": (
        "A memory of 64 records in one state, of which one has another reward; 60 updates. Before it an update with "
        "importance weights 1 and one with 0.1.",
        "it is drawn more than 4 times as often as others on average; a fifth of the priorities",
        "update returns no priorities, or weighted ones",
    ),
    "updates/order_of_records": (
        "`Agent.update` on 32 steps, and on the same with the environments reversed; then, where every step ends its "
        "episode, with time reversed.",
        "1e-6",
        "fields are reshaped in different orders; the wrong axis; a factor that depends on the row",
    ),
    "updates/records_teach_alone": (
        "Plain gradient descent on 32 steps, and on two halves of them. Twelve times `Agent.update` on one step, and "
        "on 64 times the same, from the same weights.",
        "a thousandth of the largest change; with 64 draws at most half the spread",
        "a loss is a sum over the batch; a mean over the batch is in the loss of a record; one noise for all records",
    ),
    "updates/every_reward_counts": (
        f"{BATCHES} One with rewards that are larger by 1e-6, and one with rewards of 1000.",
        "any bit of the weights",
        "rewards or returns are rounded; their sign is used; errors are clipped before they are squared",
    ),
    "updates/schedules": (
        f"{BATCHES} One at progress 0 and one at 1, with a learning rate that falls from 0.01 to 0.",
        "no bit differs at 1; any does at 0",
        "progress is not handed to the optimizer",
    ),
    "updates/batches_of_one": (
        "`Agent.update` on a single step, twice.",
        "all weights are finite",
        "a deviation of one item divides by zero",
    ),
    "updates/every_part_learns": (
        f"{BATCHES} Six of them.",
        "every trainable variable changes",
        "a part is missing in the variables of the optimizer; a loss is left out; the loss is computed without the "
        "noise of the network",
    ),
    "values/states_after_ends": (
        f"{BATCHES} The states after two terminations, after two truncations, and after the last steps, are others; "
        "of fields of several steps, the state that these reached.",
        "1e-7 after terminations; any change after truncations and last steps",
        "no factor 1 - terminals; truncations are taken for terminations; sums over time go on over truncations; a "
        "target of several steps has the value of the state after one",
    ),
    "values/discounted_rewards": (
        "A chain of three states with rewards 0.3, 1.5 and 0.8, and discount 0.5, half of it cut: up to 600 updates. "
        "With initial_alpha also values of one reward, the policy held, with two floats as actions. The best actions "
        "of Q-learning in a task of three states. With num_quantiles also the mean of 5 quantiles of rewards 0 and 1. "
        "Steps of policies beside the gradient of what they climb, by differences.",
        "0.04; with the entropy 0.1, of quantiles 0.02; for gradients a cosine of 0.999",
        "the discount is missing or another; rewards are shifted; targets do not move, or are made of standardized "
        "advantages; a projection on atoms loses probability; the fractions of quantiles lie along the targets; the "
        "entropy of the next state is missing, is a mean over the elements of actions, or lacks the derivative of "
        "tanh; records without an advantage weigh 0, not exp(0)",
    ),
    "targets/lag": (
        f"{BATCHES} Weights of each `Target` before and after each, with a tau of 1 and of 0.25.",
        "1e-6",
        "tau and 1 - tau are exchanged; targets are updated with every update; the option is not passed on",
    ),
    "targets/reached_states_teach_nothing": (
        "`Agent.update` on states with one number, and next states with the three others.",
        "no bit of the rows of first layers that take the others",
        "the target of the values is differentiated",
    ),
    "targets/values_of_reached_states": (
        f"{BATCHES} Weights of targets are 0, and other states are reached; the output of one of several target "
        "critics is raised by 100 and 200, then lowered; they are halved where all steps end; the policy is another in "
        "the states of the batch, then in those that were reached.",
        "1e-9 with targets of 0; else no bit differs, or any does",
        "what learns values next states; the largest of the critics is taken; the policy's loss moves critics, or "
        "takes values of targets",
    ),
    "options/each_has_an_effect": (
        f"{CUES} 40 steps with the usual and with another value of each option, with small and large rewards, other "
        "actions, recurrent networks, until one makes a difference. Steps of the policy where rewards are ten times as "
        "large, with standardize_advantages.",
        "any bit of the weights; for standardized advantages a thousandth",
        "an option is not passed on; a constant is in its place; advantages are divided by their variance, or "
        "standardized in each time step",
    ),
    "resuming/resumed_runs": (
        f"{CUES} Runs of 130 steps continue from checkpoints every 37 steps.",
        "no bit differs",
        "a state of the agent or its experience is not in experience_state or in a variable",
    ),
    "resuming/resumed_runs_with_memory": (
        "As resuming/resumed_runs, with recurrent networks.",
        "no bit differs",
        "internal states are not in checkpoints",
    ),
    "resuming/resumed_runs_with_late_resets": (
        "As resuming/resumed_runs, with environments that reset in the step after an end.",
        "no bit differs",
        "what waits is not in checkpoints",
    ),
    "resuming/resumed_runs_compiled": (
        "As resuming/resumed_runs, with compiled updates.",
        "no bit differs",
        "a compiled program holds a state of its own",
    ),
    "resuming/checkpoints_change_nothing": (
        f"{CUES} Two runs of 130 steps, one of which writes checkpoints.",
        "no bit differs",
        "storing draws random numbers, or ends a rollout",
    ),
    "resuming/loaded_agents_act_the_same": (
        "An agent of another seed loads a checkpoint.",
        "no bit differs",
        "a variable or counter is missing in checkpoints",
    ),
    "runs/train_from_a_document": (
        f"{CUES} `rlgraph.runs.train` with a document that has the agent's name, 32 steps; `Agent.load` of the run.",
        "no bit differs between two loads",
        "an option is an object; the name is not registered; the constructor wants what a document cannot say",
    ),
    "spaces/actions": (
        "16 steps with each kind of action. Actions of policies with large weights. An update with bounds that are 100 "
        "times as wide, and actions to match.",
        "finite weights that changed, or a SpecError with the place; 5 % of the bounds; 1e-6",
        "an action Space is neither supported nor refused; actions are squashed twice; noise is not scaled to bounds",
    ),
    "spaces/states": (
        "16 steps with pictures and Dicts as states.",
        "finite weights that changed; or a SpecError with the place",
        "the network does not suit the states: network_for chooses one that does",
    ),
    "spaces/parts_of_states": (
        "Greedy actions in 1000 nested states, each part of which is changed in turn.",
        "some action changes",
        "a part of the states does not reach the network",
    ),
    "masks/legal_actions": (
        f"{CUES} Masks forbid one or two of three actions.",
        "no illegal action",
        "a policy or an exploration gets states instead of the observation with its mask",
    ),
    "masks/log_probabilities_with_masks": (
        "As acting/log_probabilities, with masks. `Agent.update` on steps whose masks leave only their action.",
        "1e-12 in float64; 1e-9 for the policy, which stays",
        "update computes probabilities, or the entropy, without the mask",
    ),
    "inputs/normalized_states": (
        f"{CUES} 48 steps with normalize_states, then the statistics and the actions.",
        "1e-6",
        "acting or evaluating changes the statistics",
    ),
    "inputs/previous_steps": (
        "Greedy actions in 300 environments after different rewards.",
        "some differ within an episode, none after a reset",
        "the reward before does not reach the network",
    ),
    "inputs/exported_policies": (
        "The exported greedy policy with a stack of two frames.",
        "no bit differs",
        "act_greedily depends on what an export does not have",
    ),
    "faults/bad_steps": (
        "observe is given steps that are not finite, or of another shape.",
        "refused by name, and nothing is taken in",
        "observe is overridden without the checks",
    ),
    "faults/poisoned_updates": (
        "A weight is NaN; then updates.",
        "a NumericalError with a number's name",
        "errors are caught; the loss is hidden",
    ),
    "faults/unknown_options": (
        "An option with a mistake in its name.",
        "a SpecError that offers the right one",
        "**options that nobody reads",
    ),
    "documentation/options": (
        "Signature and docstring of the agent.",
        "a type and a description for each option",
        "an option without an entry under Args",
    ),
    "documentation/metrics": (
        "What an update returns.",
        "each number is a metric, or named in a docstring",
        "a number without an entry in Algorithm.metrics",
    ),
}
