"""Refusals: arguments, specifications, files and fits that cannot be used."""

REFUSALS = {
    "argument-choice": (
        "An argument has a value that is not allowed. Use one that the message lists."
    ),
    "argument-count": (
        "An argument is not a whole number, or is out of range. Give one that the message allows."
    ),
    "argument-flag": "An argument is not true or false. Give True or False.",
    "argument-names": "An argument is not a name or a list of names. Give names as text.",
    "argument-number": (
        "An argument is not a number in the allowed range. Give one that the message allows."
    ),
    "argument-path": "An argument is not a path. Give a path as text.",
    "attribution-labels": (
        "A study of attribution needs labels that the task lacks. Read the ratings with "
        "`task='ais'`."
    ),
    "axes-argument": (
        "`ax=` is not the matplotlib Axes that a figure needs. Give as many Axes as the message "
        "says."
    ),
    "checkpoint-of-other-run": (
        "The folder of checkpoints holds chains of other runs. Repeat the earlier call to continue "
        "them, or give another folder."
    ),
    "claim-itself": "A claim compares a system with itself. Name another system.",
    "claim-number": "A number in a claim is out of range. Correct it.",
    "claim-syntax": "A claim cannot be read. Write it in one of the forms that the message shows.",
    "classes-without-names": (
        "The priors say that raters hardly ever call the classes by their names, so no parameters "
        "can be drawn. Raise `mean_correct`, or lower the SDs of `mean_by_class` and `mean_other`."
    ),
    "codes-not-numbers": "Class codes have no mean. Use assay.label_probabilities(fit).",
    "condition-always-or-never": (
        "A condition holds in every state of the task, or in none, so it compares nothing. Change "
        "the condition."
    ),
    "contrast-argument": "`contrast=` does not name two systems. Name two.",
    "copies-argument": (
        "`copies=` does not name the source of each rater who may copy. Name it as the message "
        "says."
    ),
    "counts-numbers": (
        "Counts must be whole numbers, and successes must not exceed the total. Correct them."
    ),
    "counts-table": (
        "The table of counts lacks a column, or has unusable values. Correct it as the message "
        "says."
    ),
    "damaged-fit": (
        "A stored fit is damaged or was changed. Fit the ratings again, or use another copy."
    ),
    "dask-client": (
        "The Dask client cannot be used. Give a connected client, or the address of its scheduler."
    ),
    "dask-cluster": (
        "The Dask cluster does not answer, has no worker or was lost. Check it, and start again."
    ),
    "decision-undefined": (
        "Every draw lacks a number that the decision needs. Choose metrics that are defined."
    ),
    "density-not-finite": (
        "The posterior density is not finite at the starting point. Check the priors."
    ),
    "draws-dims": "An array has dims that the draws of assay do not have. Give draws of assay.",
    "drift-sessions": (
        "Drift needs at least two sessions, and the session of every rating. Read with `session=`, "
        "or leave the layer out."
    ),
    "empty-truth": "The truth holds no item. Give the class of each item.",
    "example-not-fetched": (
        "The files of an example cannot be fetched, or are not those of the catalogue. Put them "
        "into the folder that the message names."
    ),
    "executor-argument": (
        "`executor=` is not an executor. Make one with assay.dask_executor(address)."
    ),
    "extra-not-installed": (
        "An optional dependency is missing. Install the extra that the message names."
    ),
    "family-unfit": (
        "A rater family does not suit the labels of this task. Use the family that the message "
        "names."
    ),
    "file-exists": "A file of this name exists already. Name another one with `output=`.",
    "file-not-written": "A file could not be written. Check the disk and the permissions.",
    "fit-elsewhere": (
        "The fit could not be written to its place, so it was written elsewhere. Move it from "
        "there."
    ),
    "forbidden-answers": (
        "Ratings hold answers that gates or blocked rules forbid. Read the ratings with "
        "read_ratings, which sets such answers aside."
    ),
    "formula-data": (
        "A term of the formula cannot be computed from the items. Correct the column, or leave "
        "the term out."
    ),
    "formula-function": (
        "The formula uses a function, or an argument of it, that is not available. Use one that "
        "the message lists."
    ),
    "formula-not-stored": (
        "An earlier version made the fit and did not store the columns of its formula. Fit the "
        "ratings again."
    ),
    "formula-prevalence": "A formula needs main effects. Use `prevalence='loglinear'`.",
    "formula-size": "The formula is too long or too deep. Write a shorter one.",
    "formula-syntax": "The formula cannot be read. Correct it as the message says.",
    "formula-term": "A term of the formula is not available. Write it as the message says.",
    "formula-unknown-column": (
        "The formula uses a column that the items do not have. Read the column with the ratings "
        "(`covariates=`)."
    ),
    "gains-argument": "`gains=` is not a dictionary from class to gain. Give one.",
    "gates-in-circle": "Gates of labels depend on each other in a circle. Remove one of them.",
    "gold-chosen-unused": "`gold_chosen=` applies to `reference='gold'` only. Leave it out.",
    "groups-without-recipe": (
        "`raters=` has no recipe for some rater groups. Give each group a recipe."
    ),
    "guess-words": "A guess is not 0, 1 or a class. Correct the column.",
    "items-without-cluster": "Some items have no cluster. Give each item one.",
    "key-file": (
        "The key file of pseudonyms cannot be used. Give a CSV file with the columns `pseudonym` "
        "and `rater`, or a new name."
    ),
    "label-unnamed": "The task has several labels. Name one with `label=`.",
    "labels-shape": "An array of labels has the wrong shape. Give (item, label).",
    "layer-unfit": (
        "A layer cannot be combined with this rater family. Leave it out, or use another family."
    ),
    "learned-truth": (
        "The truth of this fit is not the consensus, so the fit estimates the errors of the "
        "consensus. See assay.group_misperception."
    ),
    "metric-direction": (
        "A metric does not define whether larger values are better. Set `better` of its label in "
        "the task file and fit again, choose another metric, or register one with `better=`."
    ),
    "metric-file": "A file of metrics cannot be loaded. Correct it; the message has an example.",
    "metric-function": (
        "The function of a metric fails, or returns an array of the wrong shape. Correct it as "
        "the message says."
    ),
    "metric-obstacle": (
        "A measure cannot be computed from these data. Give the data that the message names."
    ),
    "metric-registration": (
        "A metric cannot be registered with these arguments. Correct the argument that the message "
        "names."
    ),
    "modelled-abstentions": (
        "The metric counts abstentions, which this fit models already. Choose another metric."
    ),
    "no-abstentions": (
        "No rating is an abstention, so there is no sensitivity to report. Keep skipped ratings in "
        "the file."
    ),
    "no-complete-panel": "`incomplete='drop'` leaves no panel. Use `incomplete='predict'`.",
    "no-curvature": "Laplace's approximation does not exist here. Use `method='nuts'`.",
    "no-difficulty": (
        "The fit does not estimate the difficulty of items. Fit with a layer of difficulty."
    ),
    "no-drift": (
        "The fit does not estimate the drift of raters. Read with `session=`, and fit with the "
        "layer drift."
    ),
    "no-items": "No items are left. Check the filter of the ratings.",
    "no-lapses": "The fit does not estimate lapses. Fit with the layer lapses.",
    "no-partitions": (
        "The folder has no readable partitions. Write all .parquet files into one folder."
    ),
    "no-rating-of-raters": "The raters that you named gave no ratings. Check the names.",
    "no-score-report": (
        "Only tasks of the protocol have a score report. Use `assay.metrics` for others."
    ),
    "no-such-file": "There is no file at this path. Check the path.",
    "not-a-fit": (
        "The file or tree is not a fit. Make one with assay.fit, or read one with assay.load."
    ),
    "nuts-option": (
        "An option works only with `method='nuts'` and nutpie. Leave it out, or change the method."
    ),
    "open-classes": "A label takes its classes from the data. Read ratings with the task first.",
    "opinion-impossible": (
        "No distribution has this mean and this interval. Give a wider interval or another "
        "probability."
    ),
    "other-ratings": "The fit was made from other ratings. Pass the ratings that were fitted.",
    "other-version": (
        "Another version of assay wrote this fit. Install that version, or fit the ratings again."
    ),
    "output-place": (
        "The fit cannot be written to this path. Give a file name in a folder that exists."
    ),
    "partition-changed": (
        "A partition changed while it was fitted. Keep the files as they are during a fit."
    ),
    "partition-sessions": (
        "One partition may not show all sessions. Name them in order (`sessions=`)."
    ),
    "partitions-unlike": (
        "The reader interpreted the partitions differently. Name the columns and words, so that "
        "all partitions are read alike."
    ),
    "partitions-unsupported": (
        "This option needs all data on one machine. Leave it out, or use assay.fit."
    ),
    "perception-without-reference": (
        "A perception layer needs a reference that defines the truth. Give `reference=`."
    ),
    "positive-classes": "It is unclear which classes are positive. Name them with `positive=`.",
    "prior-counts": (
        "The prior counts do not match the labels. Give a table of positive counts, true class by "
        "reported class."
    ),
    "prior-file": "A file or argument of priors cannot be read. Write it as the message shows.",
    "prior-kind": (
        "This parameter cannot have a prior of this kind. Use one that the message lists."
    ),
    "prior-kinds-mixed": (
        "Priors of one parameter are of different kinds. Give all of them the same kind."
    ),
    "prior-syntax": "A prior cannot be read. Write a distribution with numbers, or an opinion.",
    "prior-unknown": "The model has no prior of this name. Use one that the message lists.",
    "prior-unused": (
        "The model does not use some priors. Leave them out, or put all of them into a TOML file."
    ),
    "rater-in-two-groups": "A rater is in several groups. Give each rater one group.",
    "ratings-shape": (
        "An array of the ratings has the wrong shape. Select ratings with "
        "assay.data.ratings.take_ratings."
    ),
    "recipe-families": "A recipe names several families. Name one, and any layers.",
    "recipe-repeats": "A recipe names a layer more than once. Name it once.",
    "recipe-syntax": (
        "A recipe of raters cannot be read. Write a family by name, and layers after plus signs."
    ),
    "reference-argument": (
        "`reference=` has a value that is not allowed. Give 'gold', 'groups' or the name of a "
        "rater group."
    ),
    "reference-too-few-items": (
        "Too few items show how the reference differs from the other raters. Use `reference=None`, "
        "or collect more such items."
    ),
    "reference-with-perception": (
        "The reference cannot have a perception layer, because its consensus is the truth. Leave "
        "the layer out."
    ),
    "repeated-items": "Items occur more than once. Keep one line for each item.",
    "response-argument": (
        "The response to a rule has a value that is not allowed. Use one that the message lists."
    ),
    "rope-argument": (
        "`rope=` is neither one number nor two. Give the largest difference that does not matter."
    ),
    "rule-not-binary": (
        "A rule uses a label of several classes as yes or no. Name the class in the rule."
    ),
    "rule-open-classes": (
        "A rule names a label whose classes come from the data. List them in the task file."
    ),
    "rule-syntax": "A rule cannot be read. Write it with the operators that the message lists.",
    "rules-block-all": (
        "Blocked rules leave no answer for a rater to give. Soften one of the rules."
    ),
    "rules-contradict": "The rules of a task contradict each other. Remove or soften one of them.",
    "rules-exclude-class": (
        "Rules and gates never admit a class. Remove the class, or soften a rule."
    ),
    "scores-no-number": (
        "Some scores are not finite numbers. Write numbers, or leave the cells empty."
    ),
    "scores-other-items": (
        "Scores are of items that the truth does not contain. Use the same names of items in both."
    ),
    "scores-table": (
        "The scores have a form that cannot be used. Give a dictionary, a Series or a table from "
        "item to score."
    ),
    "simulated-classes": "`classes=` does not hold at least two different names. Give two or more.",
    "simulated-design": (
        "The simulated design is impossible. Change the numbers of items, raters or ratings."
    ),
    "simulated-values": (
        "Values of a parameter have the wrong name, shape or range. Correct them as the message "
        "says."
    ),
    "split-clusters": (
        "Ratings of one cluster are in several partitions. Partition the data set by cluster."
    ),
    "label-config": "A label config cannot be read as a task. Correct it, or write a task file.",
    "task-file": "A task file cannot be used. Correct the problems that the message lists.",
    "shape-of-one-label": (
        "`wide=`, `wide_items=` and `counts=` need a task with one label. Name another task."
    ),
    "task-missing": "A folder of partitions needs the name of its task. Give --task.",
    "too-few-fits": "Stacking needs at least two fits. Give more, by name.",
    "too-few-strata": (
        "Groups need at least two strata. Name their column with `stratum=` when reading."
    ),
    "two-shapes": (
        "Two arguments contradict each other about the shape of a table. Give one of them."
    ),
    "too-few-systems": (
        "At least two systems are needed. Name their column with `system=` when reading."
    ),
    "too-many-completions": (
        "A rating leaves too many gating labels open. Read with `partial='draft'`."
    ),
    "too-many-contexts": (
        "The formula distinguishes too many kinds of items. Round its columns, or combine their "
        "values."
    ),
    "too-many-states": (
        "The task has too many combinations of classes. Split it, add rules, or raise max_states."
    ),
    "two-difficulties": "An item cannot have two layers of difficulty. Leave one out.",
    "uneven-design-weights": (
        "Design weights differ within a panel or cluster, which this metric cannot handle. Use the "
        "metric or argument that the message names."
    ),
    "unknown-catalogue-name": (
        "No entry of the catalogue has this name. Use one that the message lists."
    ),
    "unknown-encoding": "`encoding=` is not a known encoding. Give one such as cp1252.",
    "unknown-example": "No example has this name. Use one that the message lists.",
    "unknown-format": "`format=` is not a known format. Use one that the message lists.",
    "unknown-family": (
        "A recipe begins with a layer instead of a family. Write a family first, such as "
        "'hierarchical'."
    ),
    "unknown-group": "No rater is in a group of this name. Use one that the message lists.",
    "unknown-metric": "No metric has this name. Use one that the message lists.",
    "unknown-rater": "No rater or rater group has this name. Use one that the message lists.",
    "unknown-rule": "The task has no rule of this name. Use one that the message lists.",
    "unknown-system": "No system has this name. Use one that the message lists.",
    "unknown-task": (
        "No task has this name. Use one that the message lists, or the path of a task file."
    ),
    "unlike-fits": (
        "The fits have different items or known truth. Stack fits of one set of ratings."
    ),
    "unlisted-sessions": "The list of sessions lacks some that occur in the ratings. Add them.",
    "unsafe-store": (
        "A stored fit points to another place, runs code or has a foreign format. Do not open it; "
        "ask for a .nc file."
    ),
    "unstorable-name": "A name has characters that files cannot store. Rename it.",
    "which-label": "The task has several labels. Name one with `label=`.",
}
