// Hierarchical Dawid-Skene of one binary label, true classes summed out.
//
// The priors are those of models/raters/hierarchical.toml and models/prevalence/dirichlet.toml.
// The likelihood is as lean as Stan allows: what an item's answers say for "yes" against "no" is
// one product of a sparse matrix with the raters' log ratios, and log1p_exp takes the whole vector.
data {
  int<lower=1> items;
  int<lower=1> raters;
  int<lower=1> positions; // ratings of each item
  array[items, positions] int<lower=1, upper=raters> rater;
  array[items, positions] int<lower=0, upper=1> answer;
}
transformed data {
  int ratings = items * positions;
  vector[ratings] one = rep_vector(1, ratings);
  array[ratings] int column; // 2 j - 1: rater j said "no"; 2 j: "yes"
  array[items + 1] int start;
  vector[2 * raters] times = rep_vector(0, 2 * raters); // how often each rater said so
  for (i in 1 : items) {
    start[i] = (i - 1) * positions + 1;
    for (p in 1 : positions) {
      int which = 2 * rater[i, p] - 1 + answer[i, p];
      column[start[i] + p - 1] = which;
      times[which] += 1;
    }
  }
  start[items + 1] = ratings + 1;
}
parameters {
  vector[2] logit_mean;
  vector<lower=0>[2] logit_sd;
  matrix[raters, 2] logit_offset;
  simplex[2] prevalence;
}
model {
  vector[raters] specificity = logit_mean[1] + logit_sd[1] * logit_offset[ : , 1];
  vector[raters] sensitivity = logit_mean[2] + logit_sd[2] * logit_offset[ : , 2];
  vector[2 * raters] if_no;
  vector[2 * raters] if_yes;
  for (j in 1 : raters) {
    if_no[2 * j - 1] = log_inv_logit(specificity[j]);
    if_no[2 * j] = log1m_inv_logit(specificity[j]);
    if_yes[2 * j - 1] = log1m_inv_logit(sensitivity[j]);
    if_yes[2 * j] = log_inv_logit(sensitivity[j]);
  }
  logit_mean ~ normal(1.8, 0.8);
  logit_sd ~ normal(0, 1);
  to_vector(logit_offset) ~ std_normal();
  prevalence ~ dirichlet(rep_vector(0.5, 2));
  target += items * log(prevalence[1]) + dot_product(times, if_no);
  target += sum(log1p_exp(logit(prevalence[2])
                          + csr_matrix_times_vector(items, 2 * raters, one, column, start,
                                                    if_yes - if_no)));
}
