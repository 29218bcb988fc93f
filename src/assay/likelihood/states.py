"""Draws of the states given the parameters."""

from assay.likelihood.arrays import empty, empty_integers
from assay.likelihood.bundles import pick
from assay.likelihood.compiling import at, compiled


@compiled()
def recover_draw(  # type: ignore[no-untyped-def]
    prevalence,
    hard,
    shares,
    parts,
    data,
    item_cell,
    item_of,
    share_of,
    start,
    weight,
    chosen,
    drawn,
    by_item,
    states,
    probabilities,
    difficulties,
):
    """Draw the states of all items, and add up their probabilities and those of difficulty classes.

    prevalence : (context, state, node)
    hard : prevalence of hard items with a redrawn truth (hard class, context, state, node), or
        empty
    item_cell, item_of : the cell and the item of each item of a run
    shares, share_of : node posteriors, and the row of each run of items that share an effect
    start : first of the items of each run (run + 1,)
    weight, chosen, drawn : posterior probability, whether it is drawn, and node of each run
    probabilities, difficulties : sums over draws (item, state), (item, difficulty)
    """
    count, nodes = prevalence.shape[1], prevalence.shape[2]
    chance, evidence = empty(count), empty(count)
    node, pull = empty(nodes), empty(nodes)
    apart = hard.shape[0]
    alike = parts.shape[1] - apart
    for c in range(share_of.shape[0]):
        for q in range(nodes):
            node[q] = shares[at(share_of[c]), q]
        for k in range(at(start[c]), at(start[c + 1])):
            item, cell = at(item_of[k]), at(item_cell[k])
            g = at(data.cell_context[cell])
            for q in range(nodes):
                pull[q] = 1e-300
            for s in range(count):
                e = 0.0
                for d in range(alike):
                    e += parts[cell, d, s]
                evidence[s] = e
                chance[s] = prevalence[g, s, drawn[c]] * e
                for q in range(nodes):
                    pull[q] += prevalence[g, s, q] * e
                for d in range(apart):
                    chance[s] += hard[d, g, s, drawn[c]] * parts[cell, d + 1, s]
                    for q in range(nodes):
                        pull[q] += hard[d, g, s, q] * parts[cell, d + 1, s]
            for q in range(nodes):
                pull[q] = weight[c] * node[q] / pull[q]
            for s in range(count):
                along = 0.0
                for q in range(nodes):
                    along += pull[q] * prevalence[g, s, q]
                probabilities[item, s] += along * evidence[s]
                for d in range(alike):
                    difficulties[item, d] += along * parts[cell, d, s]
                for d in range(apart):
                    part = 0.0
                    for q in range(nodes):
                        part += pull[q] * hard[d, g, s, q]
                    part *= parts[cell, d + 1, s]
                    probabilities[item, s] += part
                    difficulties[item, d + 1] += part
            if chosen[c]:
                states[item] = pick(chance, by_item[item])


@compiled()
def draw_nodes(shares, cluster_bundle, by_cluster):  # type: ignore[no-untyped-def]
    """Draw the node of each cluster, (cluster,)."""
    drawn = empty_integers(cluster_bundle.shape[0])
    for c in range(cluster_bundle.shape[0]):
        drawn[c] = pick(shares[at(cluster_bundle[c])], by_cluster[c])
    return drawn
